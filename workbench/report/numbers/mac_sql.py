"""MAC-SQL (Wang et al., 2023): its tables, and the figure whose numbers its text gives."""

from functools import partial

from workbench.report.published import Published

_bird = partial(
    Published, paper="MAC-SQL", benchmark="BIRD dev", n=1534, model="GPT-4", metric="EX (BIRD)"
)

MAC_SQL = (
    _bird(
        source="table 1",
        title="End to end on BIRD, and with the tables and columns that gold uses",
        benchmark="BIRD dev and test",
        metric="EX (BIRD), VES",
        model="",
        columns=("model", "EX dev", "VES dev", "EX test", "VES test"),
        rows=(
            ("Palm-2", "Palm-2", 27.38, None, 33.04, None),
            ("chain of thought", "ChatGPT", 36.64, 42.30, 40.08, 56.56),
            ("Claude-2", "Claude-2", 42.70, None, 49.02, None),
            ("zero-shot", "GPT-4", 46.35, 49.77, 54.89, 60.77),
            ("DIN-SQL", "GPT-4", 50.72, 58.79, 55.90, 59.44),
            ("DAIL-SQL", "GPT-4", 54.76, 56.08, 57.41, 61.95),
            ("SQL-Llama", "SQL-Llama 7B", 32.87, 55.67, None, None),
            ("MAC-SQL, SQL-Llama", "SQL-Llama 7B", 43.94, 57.36, None, None),
            ("MAC-SQL, SQL-Llama, oracle schema", "SQL-Llama 7B", 51.43, 58.24, None, None),
            ("MAC-SQL, GPT-3.5", "GPT-3.5-Turbo", 50.56, 61.25, None, None),
            ("MAC-SQL, GPT-3.5, oracle schema", "GPT-3.5-Turbo", 65.78, 60.62, None, None),
            ("MAC-SQL", "GPT-4", 59.39, 66.39, 59.59, 67.68),
            ("MAC-SQL, oracle schema", "GPT-4", 70.28, 62.63, None, None),
        ),
        note="Table 4 has a VES of 66.24 for MAC-SQL on dev.",
    ),
    _bird(
        source="table 2",
        title="End to end on Spider",
        benchmark="Spider dev and test",
        n=1034,
        metric="EX (Spider)",
        model="",
        columns=("model", "EX dev", "EX test"),
        rows=(
            ("C3", "ChatGPT", 81.80, 82.30),
            ("DIN-SQL", "GPT-4", 82.80, 85.30),
            ("DAIL-SQL", "GPT-4", 84.40, 86.60),
            ("SQL-Llama", "SQL-Llama 7B", 65.48, 61.63),
            ("MAC-SQL, SQL-Llama", "SQL-Llama 7B", 76.25, 70.58),
            ("MAC-SQL, GPT-3.5", "GPT-3.5-Turbo", 80.56, 75.53),
            ("MAC-SQL", "GPT-4", 86.75, 82.80),
        ),
    ),
    _bird(
        source="table 3",
        title="The system without each of its agents, by difficulty",
        columns=("simple", "moderate", "challenging", "all"),
        rows=(
            ("MAC-SQL", 65.73, 52.69, 40.28, 59.39),
            ("w/o Selector", 65.73, 52.04, 35.14, 57.28),
            ("w/o Decomposer", 61.51, 48.82, 38.89, 55.54),
            ("w/o Refiner", 63.24, 44.52, 33.33, 54.76),
        ),
        note="The row without Selector does not add up: 35.14 is no share of 144 challenging questions, and"
        " its three levels make 58.7, not 57.28. The other rows do, with 925, 465 and 144 questions.",
    ),
    _bird(
        source="table 4",
        title="By number of worked examples",
        benchmark="BIRD dev; Spider dev",
        n=None,
        metric="EX (BIRD), VES; EM, EX (Spider)",
        columns=("BIRD EX", "BIRD VES", "Spider EM", "Spider EX"),
        rows=(
            ("0-shot", 55.54, 63.31, 58.42, 74.22),
            ("1-shot", 57.26, 64.32, 59.68, 78.35),
            ("2-shot", 59.39, 66.24, 63.20, 86.75),
        ),
        note="Table 1 has a VES of 66.39 for two shots. 1,534 and 1,034 questions.",
    ),
    _bird(
        source="figure 6",
        title="Failures by cause",
        benchmark="BIRD dev; Spider dev",
        n=None,
        metric="share of failures, %",
        columns=("BIRD", "Spider"),
        rows=(
            ("gold error", 30, 22),
            ("semantic correct", 14, 22),
            ("schema linking error", 2, 8),
        ),
        note="The text calls schema linking more frequent in BIRD, against its own numbers, and gives none"
        " for the other causes.",
    ),
)
