"""The commands run, explain, chart, migrate and verify, on queries in SQL; and calibrate."""
