"""The prompts, one Markdown file for each kind of call, and their strict renderer. README.md explains editing."""
