"""Runs and calls in the forms of other tools: logs of inspect_ai, CSV and Parquet."""
