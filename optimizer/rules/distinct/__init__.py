"""Rules about duplicate elimination."""
