-- Highest bid: every ten minutes, the highest bid or bids of the last ten minutes.
--
-- Query 10 of the Stream Query Repository, Q4 of the thesis (Examples 7.4 and 17.1).

SET time_unit = 'seconds';

CREATE STREAM Bid(itemID INT, bid_price REAL, bidderID INT, timestamp TIMESTAMP)
    SOURCE nexmark('bid')
    ORDERED BY timestamp;

SELECT itemID, bid_price
FROM   Bid WINDOW(RANGE 10 MINUTES
                  SLIDE 10 MINUTES)
WHERE  bid_price = (SELECT MAX(bid_price)
                    FROM   Bid WINDOW(RANGE 10 MINUTES
                                      SLIDE 10 MINUTES));
