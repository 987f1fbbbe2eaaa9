"""An oracle for continuous queries: plain SQL, evaluated by DuckDB instant by instant on windowed
relations.

It shares no code with the translation of SQL and none with the window operators. A query is written once,
with references to windowed streams in braces: `{Bid|RANGE 10 SECONDS|b}` is `Bid WINDOW(RANGE 10 SECONDS) b`
for the catalog, and for DuckDB the multiset of bids that the window holds at an instant, named b.
"""
