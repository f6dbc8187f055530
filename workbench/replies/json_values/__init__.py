"""The JSON in a reply, which is seldom alone and seldom quite JSON.

It stands in prose and in fences, has a comma too many, Python's quotes and words, quotes that are not escaped,
comments, or no end. `finding.py` finds where a value begins and ends, and `quotes.py` corrects its quotes.
"""

from workbench.replies.json_values.finding import is_cut_off, json_values, member_name, objects

__all__ = ["is_cut_off", "json_values", "member_name", "objects"]
