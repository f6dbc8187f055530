"""BIRD's scores beside accuracy: VES and R-VES, Soft-F1."""
