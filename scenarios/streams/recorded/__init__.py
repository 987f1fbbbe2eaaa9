"""Declarations of recorded streams, and of the query over them."""
