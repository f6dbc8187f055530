"""From what people say to what the database holds."""
