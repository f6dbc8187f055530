"""English for the embedded model and the selectors: words and stems, and the phrases that ask for operations."""
