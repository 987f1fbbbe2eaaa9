"""From a plan to running operators, which queries share and Boxes may replace."""
