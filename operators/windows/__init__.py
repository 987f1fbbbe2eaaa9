"""Windows, granularities and arrangements: the operators that change validity."""
