"""Rules that choose implementations; they change no snapshot."""
