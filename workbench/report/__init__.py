"""The papers' numbers, result tables beside them, and figures. All take data frames and import no runs."""
