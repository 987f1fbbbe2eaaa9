"""Windows, granularities and arrangements: what changes validity."""
