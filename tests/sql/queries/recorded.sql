--- Recorded departures of three airports, in minutes.

-- departures-to-one-place
SELECT e.flight, j.flight, e.dest FROM {EWR|RANGE 1 HOUR|e}, {JFK|RANGE 1 HOUR|j} WHERE e.dest = j.dest
    AND e.carrier <> j.carrier

-- three-airports
SELECT e.dest, COUNT(*), MAX(GREATEST(e.delay, j.delay, l.delay)) FROM {EWR|RANGE 2 HOURS|e}
    JOIN {JFK|RANGE 2 HOURS|j} ON e.dest = j.dest JOIN {LGA|RANGE 2 HOURS|l} ON l.dest = e.dest
    GROUP BY e.dest

-- late-carriers
SELECT carrier, COUNT(*), AVG(delay), STDDEV(delay), MEDIAN(miles)
    FROM {EWR|RANGE 90 MINUTES SLIDE 15 MINUTES} GROUP BY carrier HAVING AVG(delay) > -3

-- longest-delay
SELECT flight, delay FROM {LGA|RANGE 1 HOUR} WHERE delay = (SELECT MAX(delay) FROM {LGA|RANGE 1 HOUR})

-- places-of-one-airport-alone
SELECT dest FROM {JFK|RANGE 2 HOURS} EXCEPT SELECT dest FROM {EWR|RANGE 2 HOURS}

-- arrival-unknown-or-late
SELECT flight, tail, COALESCE(arrival_delay, 999) AS late FROM {EWR|RANGE 30}
    WHERE arrival_delay IS NULL OR arrival_delay > delay

-- busiest-place
SELECT dest FROM (SELECT dest, COUNT(*) AS num FROM {EWR|RANGE 1 HOUR} GROUP BY dest) d
    WHERE num >= ALL (SELECT COUNT(*) FROM {EWR|RANGE 1 HOUR|f} GROUP BY f.dest)

-- carriers-not-elsewhere
SELECT e.carrier, COUNT(*) FROM {EWR|RANGE 1 HOUR|e} WHERE NOT EXISTS (SELECT 1
    FROM {JFK|RANGE 1 HOUR|j} WHERE j.carrier = e.carrier) AND e.carrier NOT IN (SELECT l.carrier
    FROM {LGA|RANGE 20 MINUTES|l}) GROUP BY e.carrier
