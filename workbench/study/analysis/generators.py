"""EX of the selector on the candidates of one generator: the third line of CHASE-SQL's figures 2a to 2c.

Section 3.1 compares this line with the two bounds: as the lower bound falls, the selector gains no more from a rising
upper bound. The candidates are those of one run, so that none is generated or fixed again.
"""

from dataclasses import replace

import pandas as pd

from workbench.benchmarks.predictions import candidates
from workbench.report.figures.candidates import TOGETHER
from workbench.report.style import shown
from workbench.study.runs import Run, accuracy
from workbench.study.study import Study
from workbench.systems.baselines import Proposed
from workbench.systems.generate import Generate

_BOUNDS = {"lower bound": "adversary", "upper bound": "oracle"}


def selected_alone(study: Study, run: Run, step: int = 2) -> pd.DataFrame:
    """A row for the first k candidates of each generator of a run, for every `step`-th k, and a row for all candidates.

    A row has the EX of the chosen candidates with its interval, and both bounds of the same candidates.
    """
    runs: dict[tuple[str, int], Run] = {}
    total = int(run.questions["candidates"].max())
    generators = run.trials["generator"].unique()
    for generator, prompted in zip(generators, run.system.generate, strict=True):
        if not isinstance(prompted, Generate):
            continue
        own = run.trials[run.trials["generator"] == generator]
        for k in [*range(1, prompted.samples, step), prompted.samples]:
            first = candidates(own[own["sample"] < k])
            system = replace(run.system, generate=(Proposed(first),), fix=())
            label = f"{run.name}, first {k} of {shown(generator)}"
            runs[generator, k] = study.run(system, label)
    runs[TOGETHER, total] = run
    rows = []
    for (generator, k), selected in runs.items():
        found = accuracy(selected.questions)
        questions = selected.questions
        bounds = {name: accuracy(questions, "", of)["EX"] for name, of in _BOUNDS.items()}
        row = {"generator": generator, "k": k, "n": found["n"]} | bounds
        rows.append(row | {key: found[key] for key in ("EX", "low", "high", "run")})
    return pd.DataFrame(rows)
