-- Monitor new users: the people who put something up for sale within twelve hours of registering.
--
-- Query 11 of the Stream Query Repository; Example 17.7 of the thesis. The stream Person has the registrations, as
-- Istream(Person) has them in the thesis.

SET time_unit = 'seconds';

CREATE STREAM Person(id INT, name VARCHAR, registrationTime TIMESTAMP)
    SOURCE nexmark('person')
    ORDERED BY registrationTime;

CREATE STREAM OpenAuction(itemID INT, sellerID INT, start_price REAL, timestamp TIMESTAMP)
    SOURCE nexmark('auction')
    ORDERED BY timestamp;

CREATE STREAM NewPersonStream AS
    SELECT P.id, P.name
    FROM   Person P;

SELECT DISTINCT P.id, P.name
FROM   NewPersonStream WINDOW(RANGE 12 HOURS) P, OpenAuction O
WHERE  P.id = O.sellerID;
