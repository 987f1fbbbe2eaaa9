"""Rules of differences, intersections and max-unions."""
