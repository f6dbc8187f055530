"""Both widgets' look, messages and JSON: traits say what a page of plain DOM shows, and text gets there as text only."""
