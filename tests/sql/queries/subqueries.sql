--- Queries within conditions: scalar aggregates, IN, EXISTS, ANY and ALL, correlated or not. Columns on both
--- sides hold unknown values.

-- equal-to-a-maximum
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price = (SELECT MAX(price)
    FROM {Bid|RANGE 12 SECONDS})

-- above-an-average
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price > (SELECT AVG(c.price)
    FROM {Bid|RANGE 30 SECONDS|c})

-- below-another-streams-minimum
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price < (SELECT MIN(a.start_price)
    FROM {Auction|RANGE 25 SECONDS|a}) AND b.item > 1

-- count-of-no-row
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE b.item >= (SELECT COUNT(*)
    FROM {Person|RANGE 6 SECONDS})

-- arithmetic-with-a-scalar-query
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price * 2 > 1 + (SELECT SUM(a.start_price)
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.category = 'car')

-- two-scalar-queries
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price > (SELECT AVG(c.price)
    FROM {Bid|RANGE 30 SECONDS|c}) AND b.price < (SELECT MAX(a.start_price)
    FROM {Auction|RANGE 25 SECONDS|a})

-- scalar-query-on-equality
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price >= (SELECT MAX(c.price)
    FROM {Bid|RANGE 30 SECONDS|c} WHERE c.item = b.item)

-- scalar-query-on-two-equalities
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price > (SELECT AVG(c.price)
    FROM {Bid|RANGE 40 SECONDS|c} WHERE c.item = b.item AND b.bidder = c.bidder)

-- scalar-query-on-inequality
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price = (SELECT MAX(a.start_price)
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item < b.item)

-- scalar-query-on-both
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price > (SELECT MIN(a.start_price)
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item AND a.seller <> b.bidder)

-- in-a-query
SELECT b.* FROM {Bid|RANGE 12 SECONDS|b} WHERE b.bidder IN (SELECT a.seller
    FROM {Auction|RANGE 25 SECONDS|a})

-- not-in-a-query
SELECT b.* FROM {Bid|RANGE 12 SECONDS|b} WHERE b.bidder NOT IN (SELECT a.seller
    FROM {Auction|RANGE 25 SECONDS|a})

-- not-in-a-query-of-known
SELECT b.* FROM {Bid|RANGE 12 SECONDS|b} WHERE b.bidder NOT IN (SELECT a.item
    FROM {Auction|RANGE 12 SECONDS|a})

-- known-not-in-a-query
SELECT a.* FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item NOT IN (SELECT b.item
    FROM {Bid|RANGE 4 SECONDS|b})

-- known-not-in-a-query-of-known
SELECT a.* FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item NOT IN (SELECT p.id
    FROM {Person|RANGE 12 SECONDS|p})

-- in-a-correlated-query
SELECT b.item, b.bidder FROM {Bid|RANGE 12 SECONDS|b} WHERE b.bidder IN (SELECT a.seller
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item)

-- not-in-a-correlated-query
SELECT b.item, b.bidder FROM {Bid|RANGE 12 SECONDS|b} WHERE b.bidder NOT IN (SELECT a.seller
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item)

-- not-in-a-query-correlated-on-inequality
SELECT b.item, b.bidder FROM {Bid|RANGE 12 SECONDS|b} WHERE b.bidder NOT IN (SELECT a.seller
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.start_price > b.price)

-- in-a-query-with-groups
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.item IN (SELECT c.item
    FROM {Bid|RANGE 30 SECONDS|c} GROUP BY c.item HAVING COUNT(*) > 4)

-- rows-in-a-query
SELECT b.item, b.bidder FROM {Bid|RANGE 12 SECONDS|b}
    WHERE (b.item, b.bidder) IN (SELECT a.item, a.seller FROM {Auction|RANGE 25 SECONDS|a})

-- in-a-query-in-a-query
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE b.item IN (SELECT a.item
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.seller IN (SELECT p.id FROM {Person|RANGE 30 SECONDS|p}
    WHERE p.city = 'Boise' OR p.age > 23))

-- exists
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE EXISTS (SELECT 1
    FROM {Person|RANGE 3 SECONDS})

-- not-exists
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE NOT EXISTS (SELECT *
    FROM {Person|RANGE 3 SECONDS})

-- exists-on-equality
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE EXISTS (SELECT *
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item AND a.category = 'car')

-- not-exists-on-equality
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE NOT EXISTS (SELECT *
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item)

-- exists-on-inequality
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE EXISTS (SELECT 1
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.start_price > b.price)

-- not-exists-on-inequality
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE NOT EXISTS (SELECT 1
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.start_price > b.price AND a.item <> b.item)

-- exists-in-itself
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE NOT EXISTS (SELECT 1
    FROM {Bid|RANGE 12 SECONDS|c} WHERE c.item = b.item AND c.price > b.price)

-- several-subqueries
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE b.bidder IS NOT NULL AND EXISTS (SELECT 1
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item) AND b.item NOT IN (SELECT p.id
    FROM {Person|RANGE 12 SECONDS|p})

-- subquery-over-a-join
SELECT b.price, a.category FROM {Bid|RANGE 12 SECONDS|b}, {Auction|RANGE 25 SECONDS|a}
    WHERE a.item = b.item AND a.seller IN (SELECT id FROM {Person|RANGE 50 SECONDS})

-- subquery-below-groups
SELECT b.item, COUNT(*) FROM {Bid|RANGE 12 SECONDS|b} WHERE b.bidder IN (SELECT a.seller
    FROM {Auction|RANGE 25 SECONDS|a}) GROUP BY b.item

-- all-of-groups
SELECT item FROM (SELECT item, COUNT(*) AS num FROM {Bid|RANGE 20 SECONDS} GROUP BY item) d
    WHERE num >= ALL (SELECT COUNT(*) FROM {Bid|RANGE 20 SECONDS|c} GROUP BY c.item)

-- some-on-inequality
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price < SOME (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item > b.item)

-- all-on-inequality
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price > ALL (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item > b.item)

-- not-of-a-quantified-comparison
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE NOT (b.price > ANY (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a}))

-- not-of-in
SELECT b.item, b.bidder FROM {Bid|RANGE 12 SECONDS|b} WHERE NOT (b.bidder IN (SELECT a.seller
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item))

-- exists-in-having
SELECT b.item, COUNT(*) FROM {Bid|RANGE 12 SECONDS|b} GROUP BY b.item
    HAVING COUNT(*) > (SELECT MIN(a.item) FROM {Auction|RANGE 25 SECONDS|a})

-- eq-any
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price = ANY (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a})

-- eq-any-correlated
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price = ANY (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item)

-- ne-any
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price <> ANY (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a})

-- ne-any-correlated
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price <> ANY (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item)

-- lt-any
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price < ANY (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a})

-- lt-any-correlated
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price < ANY (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item)

-- le-any
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price <= ANY (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a})

-- le-any-correlated
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price <= ANY (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item)

-- gt-any
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price > ANY (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a})

-- gt-any-correlated
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price > ANY (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item)

-- ge-any
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price >= ANY (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a})

-- ge-any-correlated
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price >= ANY (SELECT a.start_price
    FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item)

-- eq-all
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price = ALL (SELECT a.start_price
    FROM {Auction|RANGE 3 SECONDS|a})

-- eq-all-correlated
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price = ALL (SELECT a.start_price
    FROM {Auction|RANGE 3 SECONDS|a} WHERE a.item = b.item)

-- ne-all
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price <> ALL (SELECT a.start_price
    FROM {Auction|RANGE 3 SECONDS|a})

-- ne-all-correlated
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price <> ALL (SELECT a.start_price
    FROM {Auction|RANGE 3 SECONDS|a} WHERE a.item = b.item)

-- lt-all
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price < ALL (SELECT a.start_price
    FROM {Auction|RANGE 3 SECONDS|a})

-- lt-all-correlated
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price < ALL (SELECT a.start_price
    FROM {Auction|RANGE 3 SECONDS|a} WHERE a.item = b.item)

-- le-all
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price <= ALL (SELECT a.start_price
    FROM {Auction|RANGE 3 SECONDS|a})

-- le-all-correlated
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price <= ALL (SELECT a.start_price
    FROM {Auction|RANGE 3 SECONDS|a} WHERE a.item = b.item)

-- gt-all
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price > ALL (SELECT a.start_price
    FROM {Auction|RANGE 3 SECONDS|a})

-- gt-all-correlated
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price > ALL (SELECT a.start_price
    FROM {Auction|RANGE 3 SECONDS|a} WHERE a.item = b.item)

-- ge-all
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price >= ALL (SELECT a.start_price
    FROM {Auction|RANGE 3 SECONDS|a})

-- ge-all-correlated
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price >= ALL (SELECT a.start_price
    FROM {Auction|RANGE 3 SECONDS|a} WHERE a.item = b.item)

-- or-with-exists
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.item = 1 OR EXISTS (SELECT 1
    FROM {Auction|RANGE 9 SECONDS|a} WHERE a.item = b.item)

-- or-with-in
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price > 8
    OR b.bidder NOT IN (SELECT a.seller FROM {Auction|RANGE 9 SECONDS|a})

-- not-of-and-with-exists
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE NOT (b.item = 1 AND EXISTS (SELECT 1
    FROM {Auction|RANGE 9 SECONDS|a} WHERE a.item = b.item))

-- not-of-or-with-subqueries
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE NOT (b.item = 1 OR EXISTS (SELECT 1
    FROM {Auction|RANGE 9 SECONDS|a} WHERE a.item = b.item))

-- in-a-union
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE b.item IN (SELECT a.item
    FROM {Auction|RANGE 9 SECONDS|a} UNION SELECT p.id FROM {Person|RANGE 9 SECONDS|p})

-- not-in-a-distinct
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE b.item NOT IN (SELECT DISTINCT a.seller
    FROM {Auction|RANGE 9 SECONDS|a} WHERE a.seller IS NOT NULL)

-- expressions-in-any
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price + 1 > ANY (SELECT a.start_price * 2
    FROM {Auction|RANGE 9 SECONDS|a} WHERE a.item = b.item + 1)

-- exists-with-groups
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE EXISTS (SELECT a.category
    FROM {Auction|RANGE 30 SECONDS|a} WHERE a.item = b.item GROUP BY a.category HAVING COUNT(*) > 1)

-- scalar-query-on-an-expression
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b}
    WHERE b.price < (SELECT MAX(c.price) - MIN(c.price) FROM {Bid|RANGE 30 SECONDS|c}
    WHERE c.item = b.item + 1)

-- correlated-count
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.item < (SELECT COUNT(*)
    FROM {Bid|RANGE 30 SECONDS|c} WHERE c.item = b.item AND c.price > b.price)

-- scalar-query-alone-on-the-left
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE (SELECT MAX(c.price)
    FROM {Auction|RANGE 30 SECONDS|a}, {Bid|RANGE 5 SECONDS|c} WHERE a.item = c.item) > b.price

-- scalar-query-of-groups
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price > (SELECT AVG(d.best)
    FROM (SELECT c.item, MAX(c.price) AS best FROM {Bid|RANGE 30 SECONDS|c} GROUP BY c.item) d)

-- common-tables-in-conditions
WITH dear AS (SELECT item FROM {Bid|RANGE 20 SECONDS} WHERE price > 8), cheap AS (SELECT item
    FROM {Bid|RANGE 20 SECONDS} WHERE price < 2) SELECT a.item FROM {Auction|RANGE 9 SECONDS|a}
    WHERE a.item IN (SELECT item FROM dear) AND a.item NOT IN (SELECT item FROM cheap
    WHERE item IS NOT NULL)

-- relation-in-exists
SELECT a.item, a.category FROM {Auction|RANGE 12 SECONDS|a} WHERE NOT EXISTS (SELECT 1
    FROM {Category||c} WHERE c.name = a.category AND c.rank > 2)

-- not-in-a-relation
SELECT a.item, a.category FROM {Auction|RANGE 12 SECONDS|a} WHERE a.item NOT IN (SELECT c.rank
    FROM {Category||c} WHERE c.name = a.category)

-- any-with-values-of-no-row
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price <> ALL (SELECT a.start_price
    FROM {Auction|RANGE 2 SECONDS|a} WHERE a.category = 'car')

-- in-with-an-expression
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE b.item + 1 IN (SELECT a.item * 2
    FROM {Auction|RANGE 12 SECONDS|a} WHERE a.seller >= b.bidder)

-- constant-in-a-query
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE 3 IN (SELECT a.seller
    FROM {Auction|RANGE 12 SECONDS|a})

-- constant-not-in-a-query
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE 3 NOT IN (SELECT a.seller
    FROM {Auction|RANGE 12 SECONDS|a})

-- exists-on-outer-alone
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE EXISTS (SELECT 1 FROM {Auction|RANGE 5 SECONDS|a}
    WHERE b.price > 5)

-- exists-of-aggregate
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE EXISTS (SELECT MAX(a.item)
    FROM {Auction|RANGE 3 SECONDS|a})

-- not-exists-of-aggregate-with-having
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE NOT EXISTS (SELECT MAX(a.item)
    FROM {Auction|RANGE 3 SECONDS|a} HAVING COUNT(*) < 1)

-- not-exists-with-unknown-condition
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE NOT EXISTS (SELECT 1
    FROM {Auction|RANGE 12 SECONDS|a} WHERE a.start_price > b.price OR a.seller = b.bidder)

-- subquery-with-join-inside
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price > ALL (SELECT a.start_price
    FROM {Auction|RANGE 20 SECONDS|a}, {Person|RANGE 20 SECONDS|p} WHERE a.seller = p.id
    AND p.id = b.bidder)

-- scalar-query-with-having
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price >= (SELECT MIN(c.price)
    FROM {Bid|RANGE 30 SECONDS|c} WHERE c.item = b.item HAVING COUNT(*) > 3)

-- unqualified-names-in-subqueries
SELECT item, price FROM {Bid|RANGE 12 SECONDS} WHERE EXISTS (SELECT 1 FROM {Auction|RANGE 12 SECONDS}
    WHERE start_price > price AND seller = bidder)

-- shadowed-names-in-subqueries
SELECT item, price FROM {Bid|RANGE 12 SECONDS} WHERE price IN (SELECT price FROM {Bid|RANGE 3 SECONDS}
    WHERE item = 2)

-- not-in-over-rows
SELECT r.sensor, r.value FROM {Reading|ROWS 6|r} WHERE r.value NOT IN (SELECT s.value
    FROM {Reading|ROWS 3|s} WHERE s.sensor <> r.sensor)

-- any-of-groups
SELECT b.item, b.price FROM {Bid|RANGE 9 SECONDS|b} WHERE b.price >= ANY (SELECT MAX(c.price)
    FROM {Bid|RANGE 20 SECONDS|c} GROUP BY c.item)

-- in-of-an-intersection
SELECT b.item FROM {Bid|RANGE 9 SECONDS|b} WHERE b.item NOT IN (SELECT a.item
    FROM {Auction|RANGE 20 SECONDS|a} EXCEPT SELECT p.id FROM {Person|RANGE 20 SECONDS|p})

-- rows-not-in-a-query
SELECT b.item, b.bidder FROM {Bid|RANGE 12 SECONDS|b}
    WHERE (b.item, b.bidder) NOT IN (SELECT a.item, a.seller FROM {Auction|RANGE 12 SECONDS|a})

-- equal-to-all-constants
SELECT b.item FROM {Bid|RANGE 12 SECONDS|b} WHERE 3 <= ALL (SELECT a.item
    FROM {Auction|RANGE 3 SECONDS|a})

-- double-negation
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE NOT (NOT EXISTS (SELECT 1
    FROM {Auction|RANGE 9 SECONDS|a} WHERE a.item = b.item))

-- not-of-a-scalar-comparison
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE NOT (b.price > (SELECT AVG(a.start_price)
    FROM {Auction|RANGE 9 SECONDS|a} WHERE a.item = b.item))

-- scalar-query-is-null
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE (SELECT AVG(a.start_price)
    FROM {Auction|RANGE 4 SECONDS|a} WHERE a.item = b.item) IS NULL

-- or-of-scalar-comparisons
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price < (SELECT MIN(a.start_price)
    FROM {Auction|RANGE 9 SECONDS|a}) OR b.price > (SELECT MAX(c.price) FROM {Bid|RANGE 3 SECONDS|c}
    WHERE c.bidder = b.bidder)

-- division-all
SELECT p.id, p.city FROM {Person|RANGE 30 SECONDS|p} WHERE NOT EXISTS (SELECT 1
    FROM {Auction|RANGE 20 SECONDS|a} WHERE a.seller = p.id AND a.item NOT IN (SELECT b.item
    FROM {Bid|RANGE 20 SECONDS|b} WHERE b.item IS NOT NULL))

-- except-then-in
SELECT d.item, COUNT(*) FROM (SELECT item FROM {Bid|RANGE 20 SECONDS} EXCEPT ALL SELECT item
    FROM {Auction|RANGE 9 SECONDS}) d WHERE d.item IN (SELECT id FROM {Person|RANGE 20 SECONDS})
    GROUP BY d.item

-- coalesce-of-a-scalar-query
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b}
    WHERE b.price > COALESCE((SELECT AVG(a.start_price) FROM {Auction|RANGE 4 SECONDS|a}
    WHERE a.item = b.item), 3)

-- distinct-from-a-scalar-query
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price IS DISTINCT
    FROM (SELECT MAX(a.start_price) FROM {Auction|RANGE 4 SECONDS|a} WHERE a.item = b.item)

-- scalar-query-or-true
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b} WHERE b.price > (SELECT MAX(a.start_price)
    FROM {Auction|RANGE 4 SECONDS|a}) OR b.item = 1

-- case-of-a-scalar-query
SELECT b.item, b.price FROM {Bid|RANGE 12 SECONDS|b}
    WHERE CASE WHEN b.price > (SELECT MAX(a.start_price)
    FROM {Auction|RANGE 4 SECONDS|a}) THEN TRUE ELSE b.item = 2 END

-- in-or-in-both-not
SELECT b.item, b.bidder FROM {Bid|RANGE 12 SECONDS|b} WHERE b.item NOT IN (SELECT a.item
    FROM {Auction|RANGE 4 SECONDS|a}) OR b.bidder NOT IN (SELECT a.seller
    FROM {Auction|RANGE 4 SECONDS|a})

-- not-of-both
SELECT b.item, b.bidder FROM {Bid|RANGE 12 SECONDS|b} WHERE NOT (b.item IN (SELECT a.item
    FROM {Auction|RANGE 4 SECONDS|a}) AND b.bidder IN (SELECT a.seller
    FROM {Auction|RANGE 4 SECONDS|a}))

-- union-with-subquery-conditions
SELECT item FROM {Bid|RANGE 9 SECONDS} WHERE item IN (SELECT id FROM {Person|RANGE 9 SECONDS})
    UNION ALL SELECT item FROM {Auction|RANGE 9 SECONDS} WHERE item NOT IN (SELECT id
    FROM {Person|RANGE 9 SECONDS})

-- same-subquery-twice
SELECT item, price FROM {Bid|RANGE 9 SECONDS} WHERE item IN (SELECT id FROM {Person|RANGE 9 SECONDS})
    AND bidder IN (SELECT id FROM {Person|RANGE 9 SECONDS})

-- distinct-with-subquery
SELECT DISTINCT b.item FROM {Bid|RANGE 9 SECONDS|b} WHERE b.price > ALL (SELECT a.start_price
    FROM {Auction|RANGE 9 SECONDS|a} WHERE a.item = b.item)

-- correlated-subquery-over-a-join
SELECT b.item, p.id FROM {Bid|RANGE 4 SECONDS|b}, {Person|RANGE 9 SECONDS|p} WHERE b.bidder = p.id
    AND EXISTS (SELECT 1 FROM {Auction|RANGE 15 SECONDS|a} WHERE a.item = b.item AND a.seller = p.id)

-- scalar-over-a-join-on-both
SELECT b.item, b.price, p.age FROM {Bid|RANGE 4 SECONDS|b}, {Person|RANGE 9 SECONDS|p}
    WHERE b.price <= (SELECT AVG(a.start_price) FROM {Auction|RANGE 25 SECONDS|a} WHERE a.item = b.item
    AND a.seller > p.id)

-- max-distinct-correlated
SELECT b.item FROM {Bid|RANGE 9 SECONDS|b} WHERE b.item = (SELECT COUNT(DISTINCT a.seller)
    FROM {Auction|RANGE 15 SECONDS|a} WHERE a.start_price < b.price)

-- median-correlated
SELECT b.item, b.price FROM {Bid|RANGE 9 SECONDS|b} WHERE b.price > (SELECT MEDIAN(c.price)
    FROM {Bid|RANGE 15 SECONDS|c} WHERE c.bidder = b.bidder)

-- group-key-with-null-correlated
SELECT b.note, COUNT(*) FROM {Bid|RANGE 9 SECONDS|b} WHERE NOT EXISTS (SELECT 1
    FROM {Bid|RANGE 9 SECONDS|c} WHERE c.note IS NOT DISTINCT FROM b.note AND c.price > b.price)
    GROUP BY b.note

-- like-correlated
SELECT b.note FROM {Bid|RANGE 9 SECONDS|b} WHERE EXISTS (SELECT 1 FROM {Bid|RANGE 9 SECONDS|c}
    WHERE c.note LIKE b.note || '%' AND c.note <> b.note)

-- exists-or-correlated-inside
SELECT b.item FROM {Bid|RANGE 9 SECONDS|b} WHERE EXISTS (SELECT 1 FROM {Auction|RANGE 9 SECONDS|a}
    WHERE a.item = b.item OR a.seller = b.bidder AND a.category = 'car')

-- in-with-or-correlated-inside
SELECT b.item FROM {Bid|RANGE 9 SECONDS|b} WHERE b.bidder NOT IN (SELECT a.seller
    FROM {Auction|RANGE 9 SECONDS|a} WHERE a.item = b.item OR a.start_price > b.price)

-- any-without-row
SELECT b.item FROM {Bid|RANGE 9 SECONDS|b} WHERE NOT (b.price = ANY (SELECT a.start_price
    FROM {Auction|RANGE 1 SECONDS|a} WHERE a.seller = 1))

-- not-exists-with-a-having-that-is-unknown
SELECT b.item FROM {Bid|RANGE 9 SECONDS|b} WHERE NOT EXISTS (SELECT COUNT(*) FROM {Bid|RANGE 9 SECONDS|c}
    WHERE c.item = b.item AND c.price > b.price HAVING COUNT(*) = 0 OR MAX(c.note) > 'a')

-- not-exists-with-a-having-that-is-unknown-for-all-rows
SELECT b.item FROM {Bid|RANGE 9 SECONDS|b} WHERE NOT EXISTS (SELECT 1 FROM {Bid|RANGE 2 SECONDS|c}
    HAVING NULLIF(COUNT(*), 1) >= 0) OR b.item = 1
