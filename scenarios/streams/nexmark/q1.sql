-- Currency conversion: the prices of incoming bids in euros.
--
-- Query 1 of the Stream Query Repository, Q1 of the thesis (Example 7.2). DolToEuro is a function of the host
-- language: midstream.scenarios.streams.nexmark.streams.dol_to_euro.

SET time_unit = 'seconds';

CREATE STREAM Bid(itemID INT, bid_price REAL, bidderID INT, timestamp TIMESTAMP)
    SOURCE nexmark('bid')
    ORDERED BY timestamp;

SELECT itemID, DolToEuro(bid_price) AS bid_price, bidderID
FROM   Bid;
