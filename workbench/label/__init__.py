"""Why predictions are wrong: cases to look at, labels that last, and how far labellers agree."""
