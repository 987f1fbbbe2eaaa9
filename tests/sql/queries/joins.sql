--- Joins of streams with streams and relations, and queries in the FROM clause.

-- comma-join
SELECT b.item, b.price, a.seller FROM {Bid|RANGE 8 SECONDS|b}, {Auction|RANGE 20 SECONDS|a}
    WHERE b.item = a.item

-- join-on
SELECT b.*, a.category FROM {Bid|RANGE 8 SECONDS|b}
    JOIN {Auction|RANGE 20 SECONDS|a} ON b.item = a.item AND b.price > a.start_price

-- join-using
SELECT item, price, start_price FROM {Bid|RANGE 8 SECONDS} JOIN {Auction|RANGE 20 SECONDS} USING (item)

-- all-columns-of-join-using
SELECT * FROM {Auction|RANGE 8 SECONDS} JOIN {Bid|RANGE 4 SECONDS} USING (item)

-- join-on-inequality
SELECT b.price, a.start_price FROM {Bid|RANGE 3 SECONDS|b}
    JOIN {Auction|RANGE 6 SECONDS|a} ON b.price < a.start_price

-- cross-join
SELECT b.item, p.id FROM {Bid|RANGE 2 SECONDS|b} CROSS JOIN {Person|RANGE 5 SECONDS|p}

-- self-join
SELECT b1.item, b1.price, b2.price FROM {Bid|RANGE 5 SECONDS|b1}, {Bid|RANGE 5 SECONDS|b2}
    WHERE b1.item = b2.item AND b1.price < b2.price

-- self-join-of-two-windows
SELECT r1.sensor, r1.value, r2.value FROM {Reading||r1}
    JOIN {Reading|RANGE 12 SECONDS|r2} ON r1.sensor = r2.sensor WHERE r1.value > r2.value

-- three-way-join
SELECT b.price, a.category, p.city
    FROM {Bid|RANGE 6 SECONDS|b}, {Auction|RANGE 20 SECONDS|a}, {Person|RANGE 40 SECONDS|p}
    WHERE b.item = a.item AND a.seller = p.id

-- three-way-join-on
SELECT COUNT(*), MAX(b.price) FROM {Bid|RANGE 6 SECONDS|b}
    JOIN {Auction|RANGE 20 SECONDS|a} ON b.item = a.item
    JOIN {Person|RANGE 40 SECONDS|p} ON a.seller = p.id {?}

-- join-on-expressions
SELECT r.sensor, b.item FROM {Reading|RANGE 5 SECONDS|r}
    JOIN {Bid|RANGE 5 SECONDS|b} ON r.sensor + 1 = b.item * 2

-- join-with-disjunction
SELECT b.item, b.bidder, p.id FROM {Bid|RANGE 3 SECONDS|b}, {Person|RANGE 9 SECONDS|p}
    WHERE b.item = p.id OR b.bidder = p.id

-- join-with-a-relation
SELECT a.item, c.rank FROM {Auction|RANGE 9 SECONDS|a}, {Category||c} WHERE a.category = c.name

-- groups-of-a-join-with-a-relation
SELECT c.name, c.rank, COUNT(*) FROM {Auction|RANGE 30 SECONDS|a}
    JOIN {Category||c} ON a.category = c.name WHERE c.rank IS NULL OR c.rank < 4 GROUP BY c.name, c.rank

-- subquery-in-from
SELECT d.item, d.twice + 1 FROM (SELECT item, price * 2 AS twice FROM {Bid|RANGE 8 SECONDS}
    WHERE price > 3) d WHERE d.twice < 15

-- subquery-with-groups-in-from
SELECT best, COUNT(*) FROM (SELECT item, MAX(price) AS best FROM {Bid|RANGE 15 SECONDS}
    GROUP BY item) d GROUP BY best

-- aggregate-of-aggregates
SELECT MAX(bids), MIN(bids), AVG(bids) FROM (SELECT item, COUNT(*) AS bids FROM {Bid|RANGE 15 SECONDS}
    GROUP BY item) AS d {?}

-- join-of-subqueries
SELECT d.item, d.bids, e.offers FROM (SELECT item, COUNT(*) AS bids FROM {Bid|RANGE 15 SECONDS}
    GROUP BY item) d JOIN (SELECT item, COUNT(*) AS offers FROM {Auction|RANGE 30 SECONDS}
    GROUP BY item) e ON d.item = e.item

-- nested-subqueries
SELECT n FROM (SELECT item % 3 AS n FROM (SELECT DISTINCT item FROM {Bid|RANGE 15 SECONDS}
    WHERE bidder IS NOT NULL) d WHERE item > 0) e

-- union-in-from
SELECT u.item, MAX(u.amount) FROM (SELECT item, price AS amount FROM {Bid|RANGE 15 SECONDS}
    UNION ALL SELECT item, start_price AS amount FROM {Auction|RANGE 15 SECONDS}) u GROUP BY u.item

-- join-with-scalar-aggregate
SELECT b.item, b.price, m.best FROM {Bid|RANGE 9 SECONDS|b}, (SELECT MAX(price) AS best
    FROM {Bid|RANGE 30 SECONDS} {?}) m WHERE b.price * 2 < m.best

-- common-table
WITH recent AS (SELECT item, price FROM {Bid|RANGE 9 SECONDS} WHERE price > 2) SELECT r.item, s.price
    FROM recent r, recent s WHERE r.item = s.item

-- same-names-of-two
SELECT b1.item, b2.item FROM {Bid|RANGE 3 SECONDS|b1}, {Bid|RANGE 6 SECONDS|b2}
    WHERE b1.price = b2.price

-- all-columns-of-a-join
SELECT * FROM {Bid|RANGE 3 SECONDS|b}, {Auction|RANGE 6 SECONDS|a} WHERE b.item = a.item

-- join-using-two
SELECT * FROM (SELECT item, bidder AS seller, price FROM {Bid|RANGE 6 SECONDS}) b
    JOIN {Auction|RANGE 20 SECONDS|a} USING (item, seller)

-- join-using-twice
SELECT item, COUNT(*) FROM {Bid|RANGE 3 SECONDS|b} JOIN {Auction|RANGE 9 SECONDS|a} USING (item)
    JOIN (SELECT id AS item FROM {Person|RANGE 30 SECONDS}) p USING (item) GROUP BY item

-- comma-and-join
SELECT b.item, p.id FROM {Bid|RANGE 3 SECONDS|b}, {Auction|RANGE 9 SECONDS|a}
    JOIN {Person|RANGE 30 SECONDS|p} ON p.id = a.seller WHERE b.item = a.item

-- join-on-one-side
SELECT b.item, a.seller FROM {Bid|RANGE 3 SECONDS|b} JOIN {Auction|RANGE 9 SECONDS|a} ON a.item = 1
    AND b.price > 5

-- least-truth
SELECT MIN(ok), MAX(ok), MIN(placed2) FROM (SELECT ok, value AS placed2
    FROM {Reading|RANGE 12 SECONDS}) d {?}

-- count-of-a-product
SELECT COUNT(*) FROM {Bid|RANGE 3 SECONDS|b}, {Person|RANGE 3 SECONDS|p} {?}

-- join-of-a-stream-with-its-groups
SELECT b.item, b.price, m.best FROM {Bid|RANGE 12 SECONDS|b} JOIN (SELECT item, MAX(price) AS best
    FROM {Bid|RANGE 12 SECONDS} GROUP BY item) m ON b.item = m.item AND b.price = m.best

-- three-self-joins
SELECT x.sensor, x.value, y.value, z.value
    FROM {Reading|RANGE 9 SECONDS|x}, {Reading|RANGE 9 SECONDS|y}, {Reading|RANGE 9 SECONDS|z}
    WHERE x.sensor = y.sensor AND y.sensor = z.sensor AND x.value < y.value AND y.value < z.value

-- relation-groups
SELECT a.item, c.n FROM {Auction|RANGE 12 SECONDS|a} JOIN (SELECT name, COUNT(*) AS n FROM {Category|}
    GROUP BY name) c ON c.name = a.category

-- comparisons-of-conditions
SELECT (price > 3) = (item > 2), (price > 3) <> ok2 FROM (SELECT price, item, bidder = 1 AS ok2
    FROM {Bid|RANGE 9 SECONDS}) d

-- casts-to-truth
SELECT CAST('true' AS BOOLEAN), CAST(ok AS VARCHAR), CAST(value AS BOOLEAN), TRY_CAST(note2 AS BOOLEAN)
    FROM (SELECT ok, value, quality AS note2 FROM {Reading|RANGE 9 SECONDS}) d

-- joined-on-unknowns
SELECT b1.note, b2.bidder FROM {Bid|RANGE 2 SECONDS|b1}
    JOIN {Bid|RANGE 3 SECONDS|b2} ON b1.note = b2.note AND b1.bidder IS NOT DISTINCT FROM b2.bidder

-- join-of-floats-and-integers
SELECT b1.item, b2.price FROM {Bid|RANGE 3 SECONDS|b1}
    JOIN {Bid|RANGE 6 SECONDS|b2} ON b1.item = b2.price

-- group-of-unknowns-and-join
SELECT x.note, x.n, y.n FROM (SELECT note, COUNT(*) AS n FROM {Bid|RANGE 9 SECONDS} GROUP BY note) x
    JOIN (SELECT note, COUNT(*) AS n FROM {Bid|RANGE 20 SECONDS} GROUP BY note) y ON x.note = y.note
    AND x.n <= y.n

-- left-join
SELECT b.item, b.price, a.seller FROM {Bid|RANGE 20 SECONDS|b} LEFT JOIN {Auction|RANGE 9 SECONDS|a} ON b.item = a.item

-- left-join-on-more
SELECT b.item, b.price, a.seller FROM {Bid|RANGE 20 SECONDS|b}
LEFT OUTER JOIN {Auction|RANGE 9 SECONDS|a} ON b.item = a.item AND b.price > a.start_price

-- left-join-then-where
SELECT b.item, b.price FROM {Bid|RANGE 20 SECONDS|b} LEFT JOIN {Auction|RANGE 9 SECONDS|a} ON b.item = a.item
WHERE a.seller IS NULL AND b.price > 2

-- left-join-using
SELECT item, price, seller FROM {Bid|RANGE 20 SECONDS|b} LEFT JOIN {Auction|RANGE 9 SECONDS|a} USING (item)

-- right-join
SELECT b.price, a.item, a.seller FROM {Bid|RANGE 5 SECONDS|b} RIGHT JOIN {Auction|RANGE 25 SECONDS|a} ON b.item = a.item

-- right-join-using
SELECT item, price, seller FROM {Bid|RANGE 5 SECONDS|b} RIGHT JOIN {Auction|RANGE 25 SECONDS|a} USING (item)

-- full-join
SELECT b.item, b.price, a.item, a.seller FROM {Bid|RANGE 9 SECONDS|b} FULL JOIN {Auction|RANGE 9 SECONDS|a} ON b.item = a.item

-- left-joins-in-a-row
SELECT b.item, a.seller, c.price FROM {Bid|RANGE 5 SECONDS|b} LEFT JOIN {Auction|RANGE 9 SECONDS|a} ON b.item = a.item
JOIN {Bid|RANGE 9 SECONDS|c} ON c.item = b.item WHERE c.price > 3

-- left-join-in-the-middle
SELECT b.item, c.price, a.seller FROM {Bid|RANGE 5 SECONDS|b} JOIN {Bid|RANGE 9 SECONDS|c} ON c.item = b.item
LEFT JOIN {Auction|RANGE 9 SECONDS|a} ON c.item = a.item AND a.seller > 1

-- left-join-grouped
SELECT b.item, COUNT(*), COUNT(a.seller) FROM {Bid|RANGE 20 SECONDS|b} LEFT JOIN {Auction|RANGE 9 SECONDS|a}
ON b.item = a.item GROUP BY b.item

-- query-among-what-is-selected
SELECT item, price, (SELECT MAX(a.seller) FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item) FROM {Bid|RANGE 9 SECONDS|b}

-- two-queries-among-what-is-selected
SELECT item, (SELECT MIN(start_price) FROM {Auction|RANGE 25 SECONDS|a}) + price,
(SELECT AVG(a.start_price) FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item > b.item) FROM {Bid|RANGE 9 SECONDS|b}

-- between-queries
SELECT item, price FROM {Bid|RANGE 15 SECONDS} WHERE price BETWEEN (SELECT AVG(price) FROM {Bid|RANGE 15 SECONDS})
AND (SELECT MAX(start_price) FROM {Auction|RANGE 25 SECONDS})

-- having-by-the-name-of-a-result
SELECT item, COUNT(*) AS n FROM {Bid|RANGE 15 SECONDS} GROUP BY item HAVING n > 2

--- A comma binds weaker than JOIN.

-- comma-before-right-join
SELECT b.item, p.id, a.item, a.seller FROM {Person|RANGE 9 SECONDS|p}, {Bid|RANGE 5 SECONDS|b}
    RIGHT JOIN {Auction|RANGE 9 SECONDS|a} ON b.item = a.item

-- commas-among-outer-joins
SELECT * FROM {Person|RANGE 3 SECONDS|p}, {Bid|RANGE 5 SECONDS|b} LEFT JOIN {Auction|RANGE 9 SECONDS|a} USING (item),
    {Reading|RANGE 4 SECONDS|r} FULL JOIN {Warm|RANGE 9 SECONDS|w} ON r.sensor = w.sensor WHERE p.age > 22

-- star-shows-a-column-of-the-name-in-using
SELECT * FROM {Bid|RANGE 5 SECONDS|b} JOIN {Auction|RANGE 9 SECONDS|a} USING (item)
    JOIN {Offer|RANGE 3 SECONDS|o} ON o.amount > a.start_price
