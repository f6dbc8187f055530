"""Measurements on runs: pairwise judgements, pools of candidates, and schemas of a chosen size."""
