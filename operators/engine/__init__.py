"""The engine: streams go in by name, and connected operators answer all queries together."""
