"""Tasks of a cluster besides solving questions: run queries, judge predictions, build indexes."""
