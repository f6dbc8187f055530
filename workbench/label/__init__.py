"""Why predictions are wrong: cases, labels, taxonomies, agreement of annotators."""
