"""The JSON in a reply, which is seldom alone and seldom quite JSON.

It stands in prose and in fences, has a comma too many, Python's quotes and words, quotes that nobody escaped,
comments, or no end. `finding.py` finds where a value begins and ends, and `quotes.py` puts its quotes right.
"""

from workbench.replies.json_values.finding import is_cut_off, json_values, member_name, objects

__all__ = ["is_cut_off", "json_values", "member_name", "objects"]
