"""Looking around: prompts, pools of candidates, and the lab book's calls."""
