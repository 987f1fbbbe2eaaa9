-- Departures of EWR, JFK and LGA. `--data` names the folder that holds departures.csv with the columns below, sorted or
-- not; the data is that of github.com/tidyverse/nycflights13 (CC0), with times of departure in UTC.

CREATE STREAM EWR(dep_ts BIGINT, dest TEXT NOT NULL, carrier TEXT NOT NULL, flight INTEGER NOT NULL, tailnum TEXT,
                   dep_delay_min INTEGER NOT NULL, arr_delay_min INTEGER, distance_mi INTEGER NOT NULL)
SOURCE csv('departures.csv', nullstr = 'NA') WHERE origin = 'EWR' ORDERED BY dep_ts TIME_UNIT 's';

CREATE STREAM JFK(dep_ts BIGINT, dest TEXT NOT NULL, carrier TEXT NOT NULL, flight INTEGER NOT NULL, tailnum TEXT,
                   dep_delay_min INTEGER NOT NULL, arr_delay_min INTEGER, distance_mi INTEGER NOT NULL)
SOURCE csv('departures.csv', nullstr = 'NA') WHERE origin = 'JFK' ORDERED BY dep_ts TIME_UNIT 's';

CREATE STREAM LGA(dep_ts BIGINT, dest TEXT NOT NULL, carrier TEXT NOT NULL, flight INTEGER NOT NULL, tailnum TEXT,
                   dep_delay_min INTEGER NOT NULL, arr_delay_min INTEGER, distance_mi INTEGER NOT NULL)
SOURCE csv('departures.csv', nullstr = 'NA') WHERE origin = 'LGA' ORDERED BY dep_ts TIME_UNIT 's';

SELECT *
FROM   EWR ewr WINDOW(RANGE 1 HOUR)
       JOIN LGA lga WINDOW(RANGE 1 HOUR) ON ewr.dest = lga.dest
       JOIN JFK jfk WINDOW(RANGE 1 HOUR) ON lga.dest = jfk.dest
