--- Windows of every form, and windows over derived streams.

-- no-window
SELECT item, price FROM {Bid|}

-- now
SELECT item, price FROM {Bid|NOW|b|cql}

-- bare-range
SELECT item, price FROM {Bid|RANGE 7}

-- range-in-minutes
SELECT item, price FROM {Bid|RANGE 1 MINUTE} WHERE item = 1

-- range-unbounded
SELECT item, price FROM {Bid|RANGE UNBOUNDED} WHERE price > 9

-- rows-unbounded
SET unbounded_state = 'allow';
SELECT sensor, COUNT(*), MAX(value) FROM {Reading|ROWS UNBOUNDED} GROUP BY sensor
-- duckdb
SELECT sensor, COUNT(*), MAX(value) FROM {Reading|ROWS UNBOUNDED} GROUP BY sensor

-- slide
SELECT item, price FROM {Bid|RANGE 20 SECONDS SLIDE 5 SECONDS}

-- slide-that-does-not-divide
SELECT item, COUNT(*) FROM {Bid|RANGE 10 SECONDS SLIDE 4 SECONDS} GROUP BY item

-- slide-longer-than-the-range
SELECT item, price FROM {Bid|RANGE 3 SECONDS SLIDE 8 SECONDS}

-- tumbling
SELECT item, MAX(price) FROM {Bid|RANGE 10 SECONDS SLIDE 10 SECONDS} GROUP BY item

-- rows
SELECT sensor, value FROM {Reading|ROWS 5}

-- rows-one
SELECT sensor, value FROM {Reading|ROWS 1}

-- rows-slide
SELECT COUNT(*), SUM(value), MIN(sensor) FROM {Reading|ROWS 6 SLIDE 4} {?}

-- partitioned
SELECT sensor, value FROM {Reading|PARTITION BY sensor ROWS 2}

-- partitioned-by-two
SELECT sensor, quality, value FROM {Reading|PARTITION BY sensor, quality ROWS 1}

-- partitioned-slide
SELECT sensor, SUM(value) FROM {Reading|PARTITION BY sensor ROWS 3 SLIDE 2} GROUP BY sensor

-- alias-before-the-window
SELECT b.item FROM {Bid|RANGE 10 SECONDS|b|before} WHERE b.price > 2

-- alias-with-as
SELECT b.item FROM {Bid|RANGE 10 SECONDS|b|as} WHERE b.price > 2

-- brackets
SELECT b.item, b.price FROM {Bid|RANGE 10 SECONDS|b|cql}

-- brackets-slide
SELECT b.item, b.price FROM {Bid|RANGE 20 SECONDS SLIDE 10 SECONDS|b|cql}

-- brackets-rows
SELECT sensor, value FROM {Reading|ROWS 3||cql}

-- brackets-partitioned
SELECT r.sensor, AVG(r.value) FROM {Reading|PARTITION BY sensor ROWS 4|r|cql} GROUP BY r.sensor

-- brackets-unbounded
SELECT MAX(price), COUNT(*) FROM {Bid|RANGE UNBOUNDED||cql} {?}

-- granularity
SELECT item, price FROM {Bid|RANGE 20 SECONDS; GRANULARITY 6 SECONDS}

-- different-windows
SELECT r.sensor, s.value FROM {Reading|ROWS 2|r}, {Reading|RANGE 9 SECONDS SLIDE 3 SECONDS|s}
    WHERE r.sensor = s.sensor

-- range-of-a-derived-stream
SELECT o.item, MAX(o.amount) FROM {Offer|RANGE 15 SECONDS|o} GROUP BY o.item

-- derived-stream-without-window
SELECT item, remark FROM {Offer|}

-- rows-of-a-derived-stream
SELECT w.sensor, w.twice FROM {Warm|ROWS 4|w}

-- partitions-of-a-derived-stream
SELECT w.sensor, SUM(w.twice) FROM {Warm|PARTITION BY sensor ROWS 2|w} GROUP BY w.sensor

-- join-of-derived-streams
SELECT o.item, o.amount, w.twice FROM {Offer|RANGE 4 SECONDS|o}
    JOIN {Warm|RANGE 6 SECONDS|w} ON o.item = w.sensor

-- window-over-a-subquery
SELECT d.item, d.twice FROM (SELECT item, price * 2 AS twice FROM Bid
    WHERE price > 3) WINDOW(RANGE 10 SECONDS) d
-- duckdb
SELECT d.item, d.twice FROM (SELECT item, price * 2 AS twice FROM {Bid|RANGE 10 SECONDS}
    WHERE price > 3) d

-- window-over-groups-of-a-now-window
SELECT d.item, SUM(d.bids) FROM (SELECT item, COUNT(*) AS bids FROM Bid
    GROUP BY item) WINDOW(RANGE 20 SECONDS) d GROUP BY d.item
-- duckdb
SELECT d.item, SUM(d.bids) FROM (SELECT item, COUNT(*) AS bids FROM {Bid|RANGE 20 SECONDS|b|timed}
    GROUP BY item, ts) d GROUP BY d.item

-- window-over-a-union
SELECT u.item, COUNT(*) FROM (SELECT item FROM Bid UNION ALL SELECT item
    FROM Auction) WINDOW(RANGE 15 SECONDS) u GROUP BY u.item
-- duckdb
SELECT u.item, COUNT(*) FROM (SELECT item FROM {Bid|RANGE 15 SECONDS} UNION ALL SELECT item
    FROM {Auction|RANGE 15 SECONDS}) u GROUP BY u.item

-- window-over-a-join-of-now-windows
SELECT d.item, d.price FROM (SELECT b.item, b.price FROM Bid b, Auction a
    WHERE b.item = a.item) WINDOW(RANGE 12 SECONDS) d
-- duckdb
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b|timed}, {Auction|RANGE 12 SECONDS|a|timed}
    WHERE b.item = a.item AND b.ts = a.ts

-- derived-stream-of-windows
CREATE STREAM Best AS SELECT item, MAX(price) AS price FROM {Bid|RANGE 15 SECONDS} GROUP BY item;
SELECT b.item, b.price, a.start_price FROM Best b, {Auction|RANGE 9 SECONDS|a} WHERE a.item = b.item
-- duckdb
SELECT b.item, b.price, a.start_price FROM (SELECT item, MAX(price) AS price
    FROM {Bid|RANGE 15 SECONDS} GROUP BY item) b, {Auction|RANGE 9 SECONDS|a} WHERE a.item = b.item

-- derived-stream-of-a-derived-stream
CREATE STREAM Dear AS SELECT item, amount FROM Offer WHERE amount > 6;
CREATE STREAM Dearest AS SELECT MAX(amount) AS top FROM Dear WINDOW(RANGE 20 SECONDS);
SELECT d.item, d.amount FROM Dear WINDOW(RANGE 20 SECONDS) d, Dearest t WHERE d.amount = t.top
-- duckdb
SELECT item, amount FROM {Offer|RANGE 20 SECONDS} WHERE amount = (SELECT MAX(amount)
    FROM {Offer|RANGE 20 SECONDS} WHERE amount > 6)

-- rows-with-ties-by-arrival
SELECT item, price, note FROM {Bid|ROWS 4 TIES BY ARRIVAL}

-- partitions-with-ties-by-arrival
SELECT item, COUNT(*), SUM(price) FROM {Bid|PARTITION BY item ROWS 3 SLIDE 2 TIES BY ARRIVAL} GROUP BY item

-- largest-window-of-a-range
SELECT item, price FROM Bid WINDOW(RANGE MIN 5 SECONDS, MAX 12 SECONDS)
-- duckdb
SELECT item, price FROM {Bid|RANGE 12 SECONDS}

-- finest-granularity-of-a-range
SELECT item, price FROM Bid WINDOW(RANGE 15 SECONDS) GRANULARITY(COARSEST 30 SECONDS, FINEST 4 SECONDS) b
-- duckdb
SELECT item, price FROM {Bid|RANGE 15 SECONDS; GRANULARITY 4 SECONDS}

-- what-comes
ISTREAM(SELECT item, price FROM {Bid|RANGE 10 SECONDS})
-- duckdb
SELECT item, price FROM {Bid|RANGE 10 SECONDS}
    EXCEPT ALL SELECT item, price FROM {Bid|RANGE 10 SECONDS||previous}

-- what-goes
DSTREAM(SELECT item, COUNT(*) FROM {Bid|RANGE 10 SECONDS} GROUP BY item)
-- duckdb
SELECT item, COUNT(*) FROM {Bid|RANGE 10 SECONDS||previous} GROUP BY item
    EXCEPT ALL SELECT item, COUNT(*) FROM {Bid|RANGE 10 SECONDS} GROUP BY item

-- what-comes-in-a-join
SELECT c.item, c.best, a.seller FROM (ISTREAM(SELECT item, MAX(price) AS best FROM {Bid|RANGE 15 SECONDS}
    GROUP BY item)) c, {Auction|RANGE 25 SECONDS|a} WHERE a.item = c.item
-- duckdb
SELECT c.item, c.best, a.seller FROM (SELECT item, MAX(price) AS best FROM {Bid|RANGE 15 SECONDS}
    GROUP BY item EXCEPT ALL SELECT item, MAX(price) FROM {Bid|RANGE 15 SECONDS||previous}
    GROUP BY item) c, {Auction|RANGE 25 SECONDS|a} WHERE a.item = c.item

-- rows-over-a-subquery
SELECT d.sensor, d.value FROM (SELECT sensor, value FROM Reading WHERE value > 5) WINDOW(ROWS 3) d
-- duckdb
SELECT w.sensor, w.twice // 2 FROM {Warm|ROWS 3|w}

-- brackets-over-a-subquery
SELECT d.item FROM (SELECT item FROM Bid WHERE price > 3) [RANGE 8 SECONDS] d
-- duckdb
SELECT item FROM {Bid|RANGE 8 SECONDS} WHERE price > 3

-- window-and-granularity-behind-the-alias
SELECT b.item FROM Bid b WINDOW(RANGE 10 SECONDS) GRANULARITY(3 SECONDS) WHERE b.price > 2
-- duckdb
SELECT b.item FROM {Bid|RANGE 10 SECONDS; GRANULARITY 3 SECONDS|b} WHERE b.price > 2

-- two-windows-of-a-derived-stream
CREATE STREAM Cheap AS SELECT item, price FROM Bid WHERE price < 6;
SELECT x.item, x.price, y.price FROM Cheap WINDOW(RANGE 3 SECONDS) x
    JOIN Cheap WINDOW(RANGE 9 SECONDS) y ON x.item = y.item AND x.price < y.price
-- duckdb
SELECT x.item, x.price, y.price FROM {Bid|RANGE 3 SECONDS|x}
    JOIN {Bid|RANGE 9 SECONDS|y} ON x.item = y.item AND x.price < y.price WHERE x.price < 6
    AND y.price < 6

-- derived-stream-of-a-union
CREATE STREAM Offered AS SELECT item, price AS amount FROM Bid UNION ALL SELECT item, start_price
    FROM Auction;
SELECT item, COUNT(*), MAX(amount) FROM Offered WINDOW(RANGE 9 SECONDS) GROUP BY item
-- duckdb
SELECT item, COUNT(*), MAX(amount) FROM (SELECT item, price AS amount FROM {Bid|RANGE 9 SECONDS}
    UNION ALL SELECT item, start_price FROM {Auction|RANGE 9 SECONDS}) o GROUP BY item

-- derived-stream-of-distinct-rows
CREATE STREAM Seen AS SELECT DISTINCT item FROM Bid;
SELECT item, COUNT(*) FROM Seen WINDOW(RANGE 9 SECONDS) GROUP BY item
-- duckdb
SELECT item, COUNT(*) FROM (SELECT DISTINCT item, ts FROM {Bid|RANGE 9 SECONDS|b|timed}) s GROUP BY item

-- window-over-groups-by-time
SELECT d.bids, COUNT(*) FROM (SELECT COUNT(*) AS bids FROM Bid) WINDOW(RANGE 30 SECONDS) d
    GROUP BY d.bids
-- duckdb
SELECT d.bids, COUNT(*) FROM (SELECT COUNT(*) AS bids FROM {Bid|RANGE 30 SECONDS|b|timed}
    GROUP BY ts) d GROUP BY d.bids

-- rows-over-groups
SELECT d.bids FROM (SELECT COUNT(*) AS bids FROM Reading) WINDOW(ROWS 2) d
-- duckdb
SELECT 1 FROM {Reading|ROWS 2}

-- slide-of-rows-in-groups
SELECT quality, COUNT(*), SUM(value) FROM {Reading|PARTITION BY quality ROWS 5 SLIDE 3} GROUP BY quality

-- partition-with-a-window-in-a-join
SELECT r.sensor, r.value, s.value
    FROM {Reading|PARTITION BY sensor ROWS 1|r}, {Reading|PARTITION BY sensor ROWS 2|s}
    WHERE r.sensor = s.sensor

-- rows-of-one-stream-and-range-of-another
SELECT r.sensor, b.price FROM {Reading|ROWS 3|r} JOIN {Bid|RANGE 2 SECONDS|b} ON r.sensor = b.item

-- tumbling-rows
SELECT MIN(value), MAX(value), COUNT(*) FROM {Reading|ROWS 5 SLIDE 5} {?}

-- slide-in-an-except
SELECT item FROM {Bid|RANGE 12 SECONDS SLIDE 6 SECONDS} EXCEPT ALL SELECT item
    FROM {Auction|RANGE 10 SECONDS SLIDE 4 SECONDS}

-- granularity-of-groups
SELECT item, COUNT(*), MAX(price) FROM {Bid|RANGE 12 SECONDS; GRANULARITY 5 SECONDS} GROUP BY item

-- granularity-of-rows
SELECT sensor, value FROM {Reading|ROWS 4; GRANULARITY 7 SECONDS}

-- granularity-with-slide
SELECT item, price FROM {Bid|RANGE 12 SECONDS SLIDE 4 SECONDS; GRANULARITY 6 SECONDS}

-- granularity-of-a-join
SELECT b.item, a.seller
    FROM {Bid|RANGE 6 SECONDS; GRANULARITY 5 SECONDS|b},
    {Auction|RANGE 12 SECONDS; GRANULARITY 3 SECONDS|a}
    WHERE a.item = b.item

-- granularity-of-a-now-window
SELECT item, price FROM {Bid|; GRANULARITY 4 SECONDS}

-- unbounded-filter
SELECT item, price FROM {Bid|RANGE UNBOUNDED||cql} WHERE price > 6 AND bidder IS NOT NULL

-- count-for-ever
SELECT COUNT(*), SUM(price), AVG(price), MIN(note) FROM {Bid|RANGE UNBOUNDED} {?}

-- unbounded-slide
SELECT COUNT(*), MAX(price) FROM {Bid|RANGE UNBOUNDED SLIDE 10 SECONDS} {?}

-- derived-stream-of-exists
CREATE STREAM Matched AS SELECT b.item, b.price FROM Bid b WHERE EXISTS (SELECT 1
    FROM {Auction|RANGE 15 SECONDS|a} WHERE a.item = b.item);
SELECT item, SUM(price) FROM Matched WINDOW(RANGE 1 SECONDS) GROUP BY item
-- duckdb
SELECT b.item, SUM(b.price) FROM {Bid||b} WHERE EXISTS (SELECT 1 FROM {Auction|RANGE 15 SECONDS|a}
    WHERE a.item = b.item) GROUP BY b.item

-- window-of-one-chronon
SELECT item, price FROM {Bid|RANGE 1} WHERE price > 1

-- what-comes-from-a-filter
ISTREAM(SELECT item FROM {Bid|RANGE 8 SECONDS} WHERE price > 4)
-- duckdb
SELECT item FROM {Bid|RANGE 8 SECONDS} WHERE price > 4 EXCEPT ALL SELECT item
    FROM {Bid|RANGE 8 SECONDS||previous} WHERE price > 4

-- what-goes-from-a-join
DSTREAM(SELECT b.item, a.seller FROM {Bid|RANGE 5 SECONDS|b}, {Auction|RANGE 9 SECONDS|a}
    WHERE a.item = b.item)
-- duckdb
SELECT b.item, a.seller FROM {Bid|RANGE 5 SECONDS|b|previous}, {Auction|RANGE 9 SECONDS|a|previous}
    WHERE a.item = b.item EXCEPT ALL SELECT b.item, a.seller
    FROM {Bid|RANGE 5 SECONDS|b}, {Auction|RANGE 9 SECONDS|a} WHERE a.item = b.item

-- what-is-there
RSTREAM(SELECT item, COUNT(*) FROM {Bid|RANGE 9 SECONDS} GROUP BY item)
-- duckdb
SELECT item, COUNT(*) FROM {Bid|RANGE 9 SECONDS} GROUP BY item
