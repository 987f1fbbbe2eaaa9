"""From recorded files to canonical Parquet: sorted, with a manifest, bad rows apart."""
