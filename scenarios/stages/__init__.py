"""Stages of studies on Spark, and studies that run them one after the other."""
