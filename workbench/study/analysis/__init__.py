"""Measurements on runs: duels of a judge, pools of candidates, and schemas of any size."""
