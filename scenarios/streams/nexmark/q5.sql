-- Closing price: the closing price and the seller of each auction, when it closes. The closing price is that of
-- the highest bid, or the start price where nobody bid.
--
-- Query 5 of the Stream Query Repository, Q5 of the thesis (Example 7.3). No auction is open for two days.

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

SELECT itemID, sellerID, price
FROM   ClosingPriceStream;
