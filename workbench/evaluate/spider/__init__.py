"""Exact match and hardness as Spider defines them, on a grammar of its own."""
