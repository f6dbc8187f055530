"""An audit of gold queries without a model: suspect queries, each with the rows that show its fault."""
