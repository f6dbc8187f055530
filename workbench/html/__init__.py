"""HTML as a tree that escapes all text, the parts that views are made of, and one style sheet."""
