"""Why predictions are wrong: cases to label, labels, taxonomies, and agreement between annotators."""
