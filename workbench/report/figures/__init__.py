"""The papers' figures and a few more, by subject: each function takes a tidy DataFrame and gives a Figure.

All take `stamp`, whose text is the figure's foot: which model, benchmark, number of questions and
definition of EX it speaks of. The figure's `data` is the table behind it, with a column `run` where the
rows given had one, and where the others do not tell what a row was counted from, `question_ids` and `counted`
("all" candidates, or else those chosen), so that `study.trace` finds it.
"""
