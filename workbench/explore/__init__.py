"""Widgets for looking at prompts, pools of candidates, and cached model calls."""
