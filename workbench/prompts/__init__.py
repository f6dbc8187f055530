"""What the models are told: one Markdown file a call, and the strict renderer. README.md says how to edit."""
