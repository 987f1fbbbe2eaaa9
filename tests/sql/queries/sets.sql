--- Union, difference and intersection, of sets and multisets.

-- union-all
SELECT item, bidder FROM {Bid|RANGE 12 SECONDS} UNION ALL SELECT item, seller
    FROM {Auction|RANGE 25 SECONDS}

-- union
SELECT item, bidder FROM {Bid|RANGE 12 SECONDS} UNION SELECT item, seller
    FROM {Auction|RANGE 25 SECONDS}

-- except-all
SELECT item, bidder FROM {Bid|RANGE 12 SECONDS} EXCEPT ALL SELECT item, seller
    FROM {Auction|RANGE 25 SECONDS}

-- except
SELECT item, bidder FROM {Bid|RANGE 12 SECONDS} EXCEPT SELECT item, seller
    FROM {Auction|RANGE 25 SECONDS}

-- intersect-all
SELECT item, bidder FROM {Bid|RANGE 12 SECONDS} INTERSECT ALL SELECT item, seller
    FROM {Auction|RANGE 25 SECONDS}

-- intersect
SELECT item, bidder FROM {Bid|RANGE 12 SECONDS} INTERSECT SELECT item, seller
    FROM {Auction|RANGE 25 SECONDS}

-- union-with-itself
SELECT item FROM {Bid|RANGE 9 SECONDS} UNION ALL SELECT item FROM {Bid|RANGE 9 SECONDS}

-- except-a-longer-window
SELECT item FROM {Bid|RANGE 30 SECONDS} EXCEPT ALL SELECT item FROM {Bid|RANGE 10 SECONDS}

-- union-of-three
SELECT item FROM {Bid|RANGE 9 SECONDS} UNION ALL SELECT id FROM {Person|RANGE 30 SECONDS}
    UNION ALL SELECT sensor FROM {Reading|RANGE 12 SECONDS}

-- union-all-after-union
SELECT item FROM {Bid|RANGE 9 SECONDS} UNION SELECT id FROM {Person|RANGE 30 SECONDS}
    UNION ALL SELECT sensor FROM {Reading|RANGE 12 SECONDS}

-- union-after-union-all
SELECT item FROM {Bid|RANGE 9 SECONDS} UNION ALL SELECT id FROM {Person|RANGE 30 SECONDS}
    UNION SELECT sensor FROM {Reading|RANGE 12 SECONDS}

-- except-is-left-associative
SELECT item FROM {Bid|RANGE 9 SECONDS} EXCEPT ALL SELECT id FROM {Person|RANGE 30 SECONDS}
    EXCEPT ALL SELECT sensor FROM {Reading|RANGE 12 SECONDS}

-- except-in-brackets
SELECT item FROM {Bid|RANGE 9 SECONDS} EXCEPT ALL (SELECT id FROM {Person|RANGE 30 SECONDS}
    EXCEPT ALL SELECT sensor FROM {Reading|RANGE 12 SECONDS})

-- intersect-binds-tighter
SELECT item FROM {Bid|RANGE 9 SECONDS} UNION ALL SELECT id FROM {Person|RANGE 30 SECONDS}
    INTERSECT ALL SELECT sensor FROM {Reading|RANGE 12 SECONDS}

-- union-in-brackets
(SELECT item FROM {Bid|RANGE 9 SECONDS} UNION ALL SELECT id FROM {Person|RANGE 30 SECONDS})
    INTERSECT ALL SELECT sensor FROM {Reading|RANGE 12 SECONDS}

-- except-of-expressions
SELECT item + 1, price > 5 FROM {Bid|RANGE 12 SECONDS} EXCEPT SELECT item, start_price > 3
    FROM {Auction|RANGE 25 SECONDS}

-- union-of-integers-and-floats
SELECT item AS n FROM {Bid|RANGE 6 SECONDS} UNION SELECT price FROM {Bid|RANGE 6 SECONDS}

-- except-of-groups
SELECT item, COUNT(*) FROM {Bid|RANGE 12 SECONDS} GROUP BY item EXCEPT SELECT item, COUNT(*)
    FROM {Auction|RANGE 40 SECONDS} GROUP BY item

-- groups-of-an-intersection
SELECT item, COUNT(*) FROM (SELECT item FROM {Bid|RANGE 9 SECONDS} INTERSECT ALL SELECT id
    FROM {Person|RANGE 30 SECONDS}) d GROUP BY item

-- unions-of-other-names
SELECT item AS x, price AS y FROM {Bid|RANGE 9 SECONDS} UNION ALL SELECT seller, start_price
    FROM {Auction|RANGE 9 SECONDS}

-- union-with-nothing
SELECT item, NULL AS y FROM {Bid|RANGE 9 SECONDS} UNION SELECT seller, start_price
    FROM {Auction|RANGE 9 SECONDS}

-- except-of-everything
SELECT * FROM {Bid|RANGE 20 SECONDS} EXCEPT ALL SELECT * FROM {Bid|RANGE 9 SECONDS}
