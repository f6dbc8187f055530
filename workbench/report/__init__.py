"""The papers' numbers, result tables beside them, and figures: of data frames, never of runs."""
