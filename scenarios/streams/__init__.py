"""Streams: described in files and generated, and recorded ones as they are declared."""
