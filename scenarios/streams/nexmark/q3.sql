-- Local item suggestion: the items of category 10 that people in Oregon put up for sale, when they do.
--
-- Query 3 of the Stream Query Repository; not in the thesis. Persons are a temporal relation, valid from their
-- registration on. An item is registered when its auction opens.

SET time_unit = 'seconds';

CREATE RELATION Person(id INT, name VARCHAR, city VARCHAR, state VARCHAR,
                       registrationTime TIMESTAMP, removalTime TIMESTAMP)
    VALID FROM registrationTime TO removalTime
    SOURCE nexmark('person');

CREATE STREAM OpenAuction(itemID INT, sellerID INT, start_price REAL, timestamp TIMESTAMP)
    SOURCE nexmark('auction')
    ORDERED BY timestamp;

CREATE STREAM Item(id INT, categoryID INT, registrationTime TIMESTAMP)
    SOURCE nexmark('auction')
    ORDERED BY registrationTime;

SELECT P.name, P.city, P.state, O.itemID
FROM   OpenAuction O, Person P, Item I WINDOW(NOW)
WHERE  O.sellerID = P.id AND P.state = 'OR' AND O.itemID = I.id AND I.categoryID = 10;
