--- Select lists, conditions and functions, row by row.

-- every-column
SELECT * FROM {Bid|RANGE 10 SECONDS}

-- columns-of-an-alias
SELECT b.*, b.price * 2 AS twice FROM {Bid|RANGE 10 SECONDS|b}

-- names-in-any-case
select B.ITEM, b.Price from {Bid|RANGE 10 SECONDS|b} where ITEM > 2

-- constants
SELECT 1 AS one, 'x' AS x, NULL AS nothing, TRUE AS yes, 2.5 AS half FROM {Auction||a}

-- arithmetic
SELECT value + 1, value - sensor, value * 3, value / 4, -value, (value + 2) * (sensor - 1)
    FROM {Reading|RANGE 7 SECONDS}

-- remainder
SELECT value % 7, MOD(value, 3), value % 0 FROM {Reading|RANGE 7 SECONDS}

-- division-by-zero
SELECT sensor, value / sensor AS share FROM {Reading|RANGE 7 SECONDS}

-- float-arithmetic
SELECT value * factor, value / factor, factor - 0.5 FROM {Reading|RANGE 7 SECONDS}

-- searched-case
SELECT item, CASE WHEN price > 7 THEN 'dear' WHEN price > 3 THEN 'fair' ELSE 'cheap' END AS class
    FROM {Bid|RANGE 5 SECONDS}

-- simple-case-without-else
SELECT CASE sensor WHEN 0 THEN value WHEN 1 THEN -value END AS signed FROM {Reading|RANGE 5 SECONDS}

-- case-guards-a-division
SELECT CASE WHEN sensor = 0 THEN 0 ELSE value / sensor END AS share FROM {Reading|RANGE 5 SECONDS}

-- casts
SELECT CAST(value AS DOUBLE) / 2, CAST(value AS VARCHAR) || '!', CAST(sensor AS BOOLEAN), CAST(ok AS
    INTEGER), CAST('12' AS INTEGER) + value
    FROM {Reading|RANGE 5 SECONDS}

-- cast-of-a-float
SELECT CAST(factor AS INTEGER), CAST(price AS INTEGER) FROM {Reading|RANGE 4 SECONDS}, {Bid||b}

-- cast-that-may-fail
SELECT TRY_CAST(note AS INTEGER) AS number, note FROM {Bid|RANGE 4 SECONDS}

-- text-functions
SELECT LOWER(note), UPPER(note), LENGTH(note), TRIM(note || '  '), REPLACE(note, 'e', '<>'),
    REVERSE(note)
    FROM {Bid|RANGE 4 SECONDS}

-- parts-of-texts
SELECT SUBSTRING(note, 2, 3), SUBSTRING(note
    FROM 2), LEFT(note, 2), RIGHT(note, 2), POSITION('e' IN note) FROM {Bid|RANGE 4 SECONDS}

-- concatenation
SELECT note || '-' || CAST(item AS VARCHAR), CONCAT(note, '/', item) FROM {Bid|RANGE 4 SECONDS}

-- numeric-functions
SELECT ABS(value), SIGN(value), CEIL(factor), FLOOR(factor), ROUND(factor), ROUND(factor * 1.1, 1),
    POWER(sensor, 2), SQRT(ABS(value)), EXP(factor), LN(factor + 10)
    FROM {Reading|RANGE 4 SECONDS}

-- choice-functions
SELECT COALESCE(value, sensor, 0), NULLIF(sensor, 2) FROM {Reading|RANGE 4 SECONDS}

-- greatest-and-least
SELECT GREATEST(value, sensor), LEAST(value, sensor, factor) FROM {Reading|RANGE 4 SECONDS}

-- parts-of-times
SELECT EXTRACT(YEAR FROM placed), EXTRACT(MONTH FROM placed), EXTRACT(DAY FROM placed), EXTRACT(HOUR
    FROM placed), EXTRACT(MINUTE FROM placed), EXTRACT(SECOND FROM placed) FROM {Bid|RANGE 4 SECONDS}

-- truncated-times
SELECT DATE_TRUNC('year', placed), DATE_TRUNC('month', placed), DATE_TRUNC('hour', placed)
    FROM {Bid|RANGE 4 SECONDS}

-- shifted-times
SELECT placed + INTERVAL '1' DAY, placed - INTERVAL '90' MINUTE FROM {Bid|RANGE 4 SECONDS}
    WHERE placed + INTERVAL '2' HOUR > TIMESTAMP '2010-06-01 12:30:00'

-- time-constants
SELECT item, placed FROM {Bid|RANGE 9 SECONDS} WHERE placed >= TIMESTAMP '2005-01-01 00:00:00'
    AND placed < DATE '2025-12-31'

-- or-and-not
SELECT * FROM {Bid|RANGE 9 SECONDS} WHERE NOT (item = 1 OR price > 5) AND bidder <> 2

-- or-with-unknowns
SELECT * FROM {Bid|RANGE 9 SECONDS} WHERE item = 1 OR price > 8 OR note = 'red'

-- conditions-as-values
SELECT price > 5 AS dear, price > 5 AND item = 1, price > 5 OR item = 1, NOT (price > 5)
    FROM {Bid|RANGE 9 SECONDS}

-- truth-of-a-column
SELECT sensor FROM {Reading|RANGE 9 SECONDS} WHERE ok AND NOT value > 20

-- is-true
SELECT sensor, ok IS TRUE, ok IS NOT FALSE FROM {Reading|RANGE 9 SECONDS}

-- between
SELECT item, price FROM {Bid|RANGE 9 SECONDS} WHERE price BETWEEN 3 AND 6.5

-- not-between
SELECT item, price FROM {Bid|RANGE 9 SECONDS} WHERE price NOT BETWEEN bidder AND item + 2

-- in-a-list
SELECT item, note FROM {Bid|RANGE 9 SECONDS} WHERE note IN ('red', 'green', '') OR item IN (1)

-- not-in-a-list
SELECT item FROM {Bid|RANGE 9 SECONDS} WHERE item NOT IN (1, 3)

-- in-a-list-with-unknown
SELECT item, item IN (1, NULL) AS found, item NOT IN (1, NULL) AS missing FROM {Bid|RANGE 9 SECONDS}

-- like
SELECT note FROM {Bid|RANGE 9 SECONDS} WHERE note LIKE '%e%' OR note LIKE 'R__'

-- not-like
SELECT note FROM {Bid|RANGE 9 SECONDS} WHERE note NOT LIKE '_e_'

-- like-with-escape
SELECT note FROM {Bid|RANGE 9 SECONDS} WHERE note LIKE '%!_%' ESCAPE '!' OR note LIKE '50!%' ESCAPE '!'

-- ilike
SELECT note FROM {Bid|RANGE 9 SECONDS} WHERE note ILIKE 'RED'

-- is-null
SELECT item, price FROM {Bid|RANGE 9 SECONDS} WHERE price IS NULL OR note IS NOT NULL AND item IS NULL

-- is-distinct-from
SELECT item, bidder FROM {Bid|RANGE 9 SECONDS} WHERE item IS DISTINCT FROM bidder
    AND note IS NOT DISTINCT FROM NULL

-- distinct-rows
SELECT DISTINCT item, bidder FROM {Bid|RANGE 20 SECONDS}

-- distinct-expressions
SELECT DISTINCT price > 5 AS dear, item % 2 FROM {Bid|RANGE 20 SECONDS}

-- same-column-twice
SELECT item, item, price AS item2 FROM {Bid|RANGE 10 SECONDS}

-- where-unknown-or-true
SELECT item FROM {Bid|RANGE 3 SECONDS|b} WHERE NULL OR item = 1

-- compared-with-null
SELECT item, price = NULL, NOT (price > NULL) FROM {Bid|RANGE 3 SECONDS|b} WHERE (item = NULL) IS NULL

-- nested-cases
SELECT CASE WHEN item IS NULL THEN CASE WHEN price > 5 THEN NULL ELSE 'a' END WHEN price IS NULL THEN
    'b' ELSE note END
    FROM {Bid|RANGE 5 SECONDS}

-- text-comparisons
SELECT note, note < 'm', note = 'red', note >= 'Red', note || 'x' > 'green' FROM {Bid|RANGE 9 SECONDS}

-- truth-comparisons
SELECT ok = TRUE, ok <> FALSE, ok IS NULL, ok IS NOT TRUE, ok = (value > 3)
    FROM {Reading|RANGE 9 SECONDS}

-- in-columns
SELECT item, item NOT IN (bidder, 3), item IN (bidder + 1, bidder) FROM {Bid|RANGE 9 SECONDS}

-- like-a-column
SELECT note LIKE note, note LIKE UPPER(note), note LIKE NULL, note NOT LIKE '%e%'
    FROM {Bid|RANGE 9 SECONDS}

-- other-parts-of-times
SELECT EXTRACT(QUARTER FROM placed), EXTRACT(DOW FROM placed), EXTRACT(WEEK FROM placed), EXTRACT(DOY
    FROM placed), DATE_PART('year', placed), YEAR(placed), EXTRACT(EPOCH FROM placed)
    FROM {Bid|RANGE 4 SECONDS}

-- dates-of-times
SELECT CAST(placed AS DATE), STRFTIME(placed, '%Y-%m-%d %H:%M') FROM {Bid|RANGE 4 SECONDS}

-- intervals
SELECT placed + INTERVAL 1 DAY, placed + INTERVAL '36 hours', placed - INTERVAL '1' HOUR
    FROM {Bid|RANGE 4 SECONDS}

-- times-between
SELECT placed FROM {Bid|RANGE 14 SECONDS} WHERE placed BETWEEN TIMESTAMP '2000-01-01'
    AND TIMESTAMP '2015-01-01 00:00:00'

-- quoted-names
SELECT b."item", "b".price FROM {Bid|RANGE 8 SECONDS|b} -- a comment

-- quoted-texts
SELECT 'it''s', note || ' ''x''' FROM {Bid|RANGE 8 SECONDS|b} /* another */ WHERE note <> ''

-- not-like-and-not-ilike
SELECT note, note NOT LIKE 'r%' AS a, note NOT ILIKE 'r%' AS b, NOT note LIKE 'r%' AS c
    FROM {Bid|RANGE 9 SECONDS}

-- substring-from-for
SELECT SUBSTRING(note FROM 2 FOR 2), SUBSTRING(note, -2), SUBSTRING(note, 0, 2), TRIM(LEADING 'r'
    FROM note), LTRIM(note), RTRIM(note) FROM {Bid|RANGE 9 SECONDS}

-- more-text-functions
SELECT LPAD(note, 6, '*'), RPAD(note, 3, '-'), REPEAT(note, 2), STARTS_WITH(note, 'r'), CONTAINS(note,
    'e'), SPLIT_PART(note, '_', 2), STRPOS(note, 'e'), ASCII(note), CONCAT_WS('-', note, item, NULL)
    FROM {Bid|RANGE 9 SECONDS}

-- patterns
SELECT REGEXP_MATCHES(note, '[a-z]+_[0-9]'), REGEXP_REPLACE(note, '[aeiou]', '#')
    FROM {Bid|RANGE 9 SECONDS}

-- more-numeric-functions
SELECT TRUNC(factor), LOG10(factor + 5), LOG2(factor + 5), CEILING(factor), SIGN(-factor), ROUND(value,
    -1), ABS(-7), POW(2, sensor), -(-value), +value
    FROM {Reading|RANGE 9 SECONDS}

-- float-constants
SELECT 1e3 + value, .5 * value, 0.1 + 0.2, 1.0 * value, 100000000000 * value
    FROM {Reading|RANGE 9 SECONDS}

-- precedence
SELECT 1 + value * 2 - 3, (1 + value) * -2, NOT ok OR ok
    AND value > 3, value - 1 - 2, 12 / 2 / 3, 7 - value % 3 FROM {Reading|RANGE 9 SECONDS}

-- precedence-of-and
SELECT item FROM {Bid|RANGE 9 SECONDS} WHERE item = 1 OR item = 2 AND price > 5 OR NOT item < 4
    AND bidder = 1

-- casts-in-colons
SELECT value::DOUBLE / 3, CAST(factor AS VARCHAR), value::VARCHAR || 'x', CAST('2.5' AS DOUBLE) * value
    FROM {Reading|RANGE 9 SECONDS}

-- nullif-and-case
SELECT NULLIF(price, 2.5), CASE item WHEN 1 THEN 'one' WHEN NULL THEN 'never' ELSE 'other' END,
    IFNULL(price, 0)
    FROM {Bid|RANGE 9 SECONDS}
