-- Average closing price: for each category, over the last hour.
--
-- Query 6 of the Stream Query Repository; not in the thesis. No auction is open for 47 hours, so that its item is
-- still in the window of two days an hour after it closed.

SET time_unit = 'seconds';

CREATE STREAM Bid(itemID INT, bid_price REAL, bidderID INT, timestamp TIMESTAMP)
    SOURCE nexmark('bid')
    ORDERED BY timestamp;

CREATE STREAM OpenAuction(itemID INT, sellerID INT, start_price REAL, timestamp TIMESTAMP)
    SOURCE nexmark('auction')
    ORDERED BY timestamp;

CREATE STREAM ClosedAuction(itemID INT, buyerID INT, timestamp TIMESTAMP)
    SOURCE nexmark('closed_auction')
    ORDERED BY timestamp;

CREATE STREAM Item(id INT, categoryID INT, registrationTime TIMESTAMP)
    SOURCE nexmark('auction')
    ORDERED BY registrationTime;

CREATE STREAM CurrentPrice AS
    SELECT P.itemID, P.price, O.sellerID AS sellerID
    FROM   ((SELECT itemID, bid_price AS price
             FROM   Bid WINDOW(RANGE 2 DAYS))
            UNION ALL
            (SELECT itemID, start_price AS price
             FROM   OpenAuction WINDOW(RANGE 2 DAYS))) P,
           ClosedAuction C,
           OpenAuction O WINDOW(RANGE 2 DAYS)
    WHERE  P.itemID = C.itemID AND C.itemID = O.itemID;

CREATE STREAM ClosingPriceStream AS
    SELECT itemID, sellerID, MAX(P.price) AS price
    FROM   CurrentPrice P
    GROUP BY P.itemID, P.sellerID;

SELECT   I.categoryID, AVG(P.price) AS price
FROM     ClosingPriceStream WINDOW(RANGE 1 HOUR) P, Item WINDOW(RANGE 2 DAYS) I
WHERE    P.itemID = I.id
GROUP BY I.categoryID;
