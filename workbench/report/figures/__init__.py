"""The papers' figures and a few more, by subject: each function takes a tidy DataFrame and gives a Figure.

All take `stamp`, whose text is the figure's foot: which model, benchmark, number of questions and
definition of EX it speaks of. The figure's `data` is the table behind it, with a column `run` where the
rows given had one.
"""
