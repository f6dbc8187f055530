"""What a model's reply says: one reader for each form of answer that a prompt asks for.

Models think aloud, quote the old query, echo the prompt, answer twice and stop in the middle. Every reader
begins with `answer_text`, which drops what the model only thought, and returns an empty value where a
careful person could not tell what the answer is. No reader raises.
"""
