"""Export runs and calls to the formats of other tools: logs of inspect_ai, CSV and Parquet."""
