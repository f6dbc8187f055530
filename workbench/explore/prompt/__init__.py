"""One call of a system: recorded from the cache, shown as sent, edited, asked and judged."""
