-- Short auctions: those that closed within five hours of their opening.
--
-- Query 7 of the Stream Query Repository, Q3 of the thesis (Example 7.2).

SET time_unit = 'seconds';

CREATE STREAM OpenAuction(itemID INT, sellerID INT, start_price REAL, timestamp TIMESTAMP)
    SOURCE nexmark('auction')
    ORDERED BY timestamp;

CREATE STREAM ClosedAuction(itemID INT, buyerID INT, timestamp TIMESTAMP)
    SOURCE nexmark('closed_auction')
    ORDERED BY timestamp;

SELECT O.*
FROM   OpenAuction O WINDOW(RANGE 5 HOURS),
       ClosedAuction C
WHERE  O.itemID = C.itemID;
