"""The commands on SQL scripts: run, explain, chart, migrate, verify, and calibrate."""
