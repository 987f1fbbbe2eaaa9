-- Open auctions: the table of those that are open.
--
-- Query 4 of the Stream Query Repository; not in the thesis. No auction is open for two days.

SET time_unit = 'seconds';

CREATE STREAM OpenAuction(itemID INT NOT NULL, sellerID INT, start_price REAL, timestamp TIMESTAMP)
    SOURCE nexmark('auction')
    ORDERED BY timestamp;

CREATE STREAM ClosedAuction(itemID INT NOT NULL, buyerID INT, timestamp TIMESTAMP)
    SOURCE nexmark('closed_auction')
    ORDERED BY timestamp;

SELECT O.*
FROM   OpenAuction WINDOW(RANGE 2 DAYS) O
WHERE  O.itemID NOT IN (SELECT C.itemID
                        FROM   ClosedAuction WINDOW(RANGE 2 DAYS) C);
