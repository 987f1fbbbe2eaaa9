"""Rules that choose how a plan runs. They change no snapshot."""
