-- Average selling price: for each seller, over the last ten items sold.
--
-- Query 9 of the Stream Query Repository; not in the thesis. Of items that are sold at once, the order in which
-- they are reported decides which are the last.

SET time_unit = 'seconds';

CREATE STREAM ClosedAuction(itemID INT, sellerID INT, buyerID INT, price REAL, timestamp TIMESTAMP)
    SOURCE nexmark('closed_auction')
    ORDERED BY timestamp;

CREATE STREAM Sale AS
    SELECT itemID, sellerID, price
    FROM   ClosedAuction
    WHERE  buyerID IS NOT NULL;

SELECT   S.sellerID, AVG(S.price) AS price
FROM     Sale WINDOW(PARTITION BY sellerID ROWS 10 TIES BY ARRIVAL) S
GROUP BY S.sellerID;
