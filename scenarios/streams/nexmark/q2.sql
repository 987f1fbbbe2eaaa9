-- Selection: all bids on five items.
--
-- Query 2 of the Stream Query Repository, Q2 of the thesis (Example 7.2).

SET time_unit = 'seconds';

CREATE STREAM Bid(itemID INT, bid_price REAL, bidderID INT, timestamp TIMESTAMP)
    SOURCE nexmark('bid')
    ORDERED BY timestamp;

SELECT Bid.*
FROM   Bid
WHERE  itemID = 1007 OR itemID = 1020 OR itemID = 2001 OR itemID = 2019 OR itemID = 1087;
