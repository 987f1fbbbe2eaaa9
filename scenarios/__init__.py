"""Streams, workloads and studies that put the other rooms to use."""
