"""English for the embedded model: words and stems, and the phrases that ask for operations."""
