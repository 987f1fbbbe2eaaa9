--- Aggregates, groups and conditions on them.

-- count-of-rows
SELECT COUNT(*) AS rows FROM {Bid|RANGE 10 SECONDS} {?}

-- scalar-aggregates
SELECT COUNT(price), SUM(price), AVG(price), MIN(price), MAX(price) FROM {Bid|RANGE 10 SECONDS} {?}

-- spread
SELECT VAR_POP(value), VAR_SAMP(value), STDDEV_POP(value), STDDEV_SAMP(value), VARIANCE(value),
    STDDEV(value)
    FROM {Reading|RANGE 10 SECONDS} {?}

-- median
SELECT sensor, MEDIAN(value), MEDIAN(factor) FROM {Reading|RANGE 15 SECONDS} GROUP BY sensor

-- aggregates-of-different-values
SELECT COUNT(DISTINCT item), SUM(DISTINCT price), AVG(DISTINCT price), MAX(DISTINCT bidder), COUNT(item)
    FROM {Bid|RANGE 10 SECONDS} {?}

-- aggregates-of-texts
SELECT item, MIN(note), MAX(note), COUNT(DISTINCT note) FROM {Bid|RANGE 20 SECONDS} GROUP BY item

-- expressions-of-aggregates
SELECT MAX(price) - MIN(price) AS range, SUM(price * 2) / COUNT(*) + 1 FROM {Bid|RANGE 10 SECONDS} {?}

-- aggregate-of-a-case
SELECT SUM(CASE WHEN price > 5 THEN 1 ELSE 0 END) AS dear, COUNT(*) FROM {Bid|RANGE 10 SECONDS} {?}

-- groups
SELECT item, COUNT(*) AS bids, MAX(price) AS best FROM {Bid|RANGE 20 SECONDS} GROUP BY item

-- groups-by-two
SELECT item, bidder, SUM(price) FROM {Bid|RANGE 20 SECONDS} GROUP BY bidder, item

-- groups-that-are-not-shown
SELECT COUNT(*) AS bids FROM {Bid|RANGE 20 SECONDS} GROUP BY item

-- groups-without-aggregates
SELECT item, bidder FROM {Bid|RANGE 20 SECONDS} GROUP BY item, bidder

-- groups-by-expression
SELECT item % 2, COUNT(*) FROM {Bid|RANGE 20 SECONDS} GROUP BY item % 2

-- groups-by-an-expression-used-within
SELECT (item + 1) * 10 AS tens, AVG(price) FROM {Bid|RANGE 20 SECONDS} GROUP BY item + 1

-- groups-by-name-of-a-result
SELECT UPPER(note) AS word, COUNT(*) FROM {Bid|RANGE 20 SECONDS} GROUP BY word

-- groups-by-position
SELECT LENGTH(note), MIN(price) FROM {Bid|RANGE 20 SECONDS} GROUP BY 1

-- groups-by-case
SELECT CASE WHEN price > 5 THEN 'dear' ELSE 'cheap' END AS class, COUNT(*) FROM {Bid|RANGE 20 SECONDS}
    GROUP BY CASE WHEN price > 5 THEN 'dear' ELSE 'cheap' END

-- having
SELECT item, COUNT(*) FROM {Bid|RANGE 20 SECONDS} GROUP BY item HAVING COUNT(*) > 2

-- having-another-aggregate
SELECT item FROM {Bid|RANGE 20 SECONDS} GROUP BY item HAVING SUM(price) > 10 AND MIN(bidder) < 2
    OR item IS NULL

-- having-without-groups
SELECT AVG(price) FROM {Bid|RANGE 10 SECONDS} HAVING COUNT(*) > 3

-- where-and-having
SELECT bidder, MAX(price) FROM {Bid|RANGE 20 SECONDS} WHERE item IN (1, 2, 3) GROUP BY bidder
    HAVING MAX(price) >= 5

-- distinct-after-groups
SELECT DISTINCT COUNT(*) FROM {Bid|RANGE 20 SECONDS} GROUP BY item

-- groups-of-a-join
SELECT a.category, COUNT(*) AS bids, SUM(b.price - a.start_price)
    FROM {Bid|RANGE 10 SECONDS|b}, {Auction|RANGE 30 SECONDS|a} WHERE a.item = b.item
    GROUP BY a.category

-- aggregates-of-a-now-window
SELECT item, COUNT(*), SUM(price) FROM {Bid|} GROUP BY item

-- aggregates-for-ever
SET unbounded_state = 'allow';
SELECT bidder, COUNT(*), MAX(price) FROM {Bid|RANGE UNBOUNDED} GROUP BY bidder
-- duckdb
SELECT bidder, COUNT(*), MAX(price) FROM {Bid|RANGE UNBOUNDED} GROUP BY bidder

-- name-of-a-result-that-is-a-column
SELECT item % 2 AS item, COUNT(*) FROM {Bid|RANGE 20 SECONDS} GROUP BY item

-- groups-by-truth
SELECT ok, COUNT(*), SUM(value), AVG(factor) FROM {Reading|RANGE 20 SECONDS} GROUP BY ok

-- groups-by-coalesce
SELECT COALESCE(note, '?') AS word, COUNT(price), SUM(price) FROM {Bid|RANGE 6 SECONDS}
    GROUP BY COALESCE(note, '?')

-- counts-of-cases
SELECT item, COUNT(CASE WHEN price > 5 THEN 1 END), SUM(DISTINCT price * 2), COUNT(DISTINCT price > 5)
    FROM {Bid|RANGE 12 SECONDS} GROUP BY item

-- aggregates-of-times
SELECT item, MIN(placed), MAX(placed), COUNT(DISTINCT placed) FROM {Bid|RANGE 12 SECONDS} GROUP BY item

-- difference-of-times
SELECT MAX(placed) - MIN(placed) AS span FROM {Bid|RANGE 12 SECONDS} {?}

-- groups-with-constant
SELECT 'x' AS kind, item, 1 + COUNT(*) FROM {Bid|RANGE 20 SECONDS} GROUP BY item

-- having-with-in
SELECT b.item, COUNT(*) FROM {Bid|RANGE 20 SECONDS|b} GROUP BY b.item HAVING b.item IN (SELECT a.item
    FROM {Auction|RANGE 9 SECONDS|a}) AND COUNT(*) > 1

-- having-scalar-on-group
SELECT b.item, SUM(b.price) FROM {Bid|RANGE 20 SECONDS|b} GROUP BY b.item
    HAVING SUM(b.price) > (SELECT SUM(a.start_price) FROM {Auction|RANGE 15 SECONDS|a}
    WHERE a.item = b.item)

-- having-or-in
SELECT b.item, COUNT(*) FROM {Bid|RANGE 20 SECONDS|b} GROUP BY b.item HAVING COUNT(*) > 4
    OR b.item NOT IN (SELECT a.item FROM {Auction|RANGE 4 SECONDS|a})
