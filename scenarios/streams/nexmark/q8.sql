-- Hot items: those with the most bids in the past hour, updated every minute.
--
-- Query 8 of the Stream Query Repository, Q6 of the thesis (Example 7.4), which updates at every bid.

SET time_unit = 'seconds';

CREATE STREAM Bid(itemID INT, bid_price REAL, bidderID INT, timestamp TIMESTAMP)
    SOURCE nexmark('bid')
    ORDERED BY timestamp;

SELECT itemID
FROM   (SELECT   B1.itemID AS itemID, COUNT(*) AS num
        FROM     Bid [RANGE 60 MINUTES SLIDE 1 MINUTE] B1
        GROUP BY B1.itemID)
WHERE  num >= ALL (SELECT   COUNT(*)
                   FROM     Bid [RANGE 60 MINUTES SLIDE 1 MINUTE] B2
                   GROUP BY B2.itemID);
