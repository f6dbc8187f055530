"""The thresholds of value retrieval (CHASE-SQL, section 2.2, appendix A.5; CHESS, appendix A.1).

`DEFAULT` departs from the papers: its thresholds are stricter for parts of phrases and for codes. `CHESS` holds the
paper's.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Matching:
    """The thresholds that a candidate must pass, in the order of the stages.

    candidates: how many values the index returns for a keyword.
    edit: least similarity by spelling of a whole keyword.
    part: the same for a part of a phrase that is looked up by itself.
    code: the same for numbers and keywords of up to three letters, where one letter makes another word.
    word: what a value that has all words of the keyword, as "Lewis Hamilton" has "Hamilton", counts at least when
        values are compared: no shorter lookalike, such as "Milton", displaces it.
    semantic: least similarity by meaning; None uses the similarity's own `alike`.
    sure: from this similarity by spelling on, `semantic` is not required, since embeddings do not forgive typos.
    keep: least fraction of the column's best similarity by spelling.
    best_of: whether that best is taken over the same "keyword" or, as in CHESS's code, over the whole "question".
    per_keyword: how many values of a column are kept for one keyword; 1 as in CHESS, appendix A.1.
    per_column: how many values of a column are kept.
    """

    candidates: int = 100
    edit: float = 0.3
    part: float = 0.7
    code: float = 0.95
    word: float = 0.89
    semantic: float | None = None
    sure: float = 0.8
    keep: float = 0.9
    best_of: Literal["keyword", "question"] = "keyword"
    per_keyword: int = 5
    per_column: int = 5


DEFAULT = Matching()
CHESS = Matching(
    candidates=10,
    part=0.3,
    code=0.3,
    word=0.0,
    semantic=0.6,
    sure=2.0,
    best_of="question",
    per_keyword=1,
    per_column=100,
)
