"""An audit of gold queries without a model: what is suspect in them, each with the rows that show it."""
