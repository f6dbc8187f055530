"""The labelling widget: it sends cases ahead, keeps each label at once, and sums up what annotators say."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import traitlets

from workbench.current_question import CURRENT, CurrentQuestion
from workbench.errors import BadInputError
from workbench.label.agreement import agreement, disputes, sentence
from workbench.label.cases import Case, cases
from workbench.label.rules import difference, suggested
from workbench.label.store import (
    ADJUDICATOR,
    BOTH_RIGHT,
    CORRECTED,
    GOLD,
    STAYS,
    Label,
    LabelStore,
    label_of,
)
from workbench.label.taxonomy import Taxonomy, open_taxonomy
from workbench.sql.counterexample import counterexample
from workbench.sql.reading import used
from workbench.study.run import Run
from workbench.study.study import Study
from workbench.systems.system import prepare
from workbench.types import Context
from workbench.widgets.data import pair, result, shown, table
from workbench.widgets.desk import Desk, script

AHEAD = 5  # cases that are sent before they are shown


def label(
    study: Study, run: Run, taxonomy: str = "CHASE-SQL", annotator: str = "me",
    *, current: CurrentQuestion | None = None,
) -> "Labeller":  # fmt: skip
    """A widget in which an annotator sorts the wrong answers of a run, by mouse or by key.

    The taxonomy, a paper's or one's own YAML file, says which answers it sorts. A label is on disk before the page says
    so, under the benchmark's name in the workbench's home. Views with the same `current` show the same question.
    """
    kinds = open_taxonomy(taxonomy)
    store = LabelStore.named(study.benchmark.name)
    return Labeller(study, run, cases(study, run, kinds), kinds, store, annotator, current)


class Labeller(Desk):
    """The page shows one case after another; `rows` has all of them in brief, `detail` the first ones in full."""

    _esm = script(Path(__file__).with_name("labeller.js"))
    taxonomy: Any = traitlets.Dict().tag(sync=True)
    annotator = traitlets.Unicode().tag(sync=True)
    # By the case's key: the annotator's labels and note, and the verdict on gold.
    mine: Any = traitlets.Dict().tag(sync=True)
    summary: Any = traitlets.Dict().tag(sync=True)

    def __init__(
        self, study: Study, run: Run, shown_cases: Sequence[Case], taxonomy: Taxonomy, store: LabelStore,
        annotator: str, current: CurrentQuestion | None = None,
    ) -> None:  # fmt: skip
        self.study, self.run, self.kinds, self.store = study, run, taxonomy, store
        self.cases = {case.key: case for case in shown_cases}
        self._current, self._shown = current or CURRENT, ""
        super().__init__(
            taxonomy=taxonomy.model_dump(include={"name", "several", "categories"}, mode="json")
        )
        self.rows = [
            {"key": key, "id": shown(case.question.id), "question": shown(case.question.text)}
            for key, case in self.cases.items()
        ]
        self.do_annotator(annotator)
        left = [key for key in self.cases if key not in self.mine or not self.mine[key]["is"]]
        self.detail = self.do_need([*left, *self.cases][: AHEAD + 1])
        self._current.observe(lambda _: self._follow(), names="picked")

    def _follow(self) -> None:
        """Show the case of the question that another view picked, if it has one."""
        for key, case in self.cases.items():
            about = (self.study.benchmark.name, case.question.id)
            if key != self._shown and self._current.picked == about:
                self.send({"go": key})

    def do_at(self, key: str) -> None:
        """The page shows this case: its question becomes the current one."""
        self._shown = key  # no message back: the page may be further on already
        self._current.picked = (self.study.benchmark.name, self._case(key).question.id)

    def do_annotator(self, name: str) -> None:
        """Label under this name."""
        name = name.strip()
        if not name or name.lower() == ADJUDICATOR:
            raise BadInputError(f"annotator {name!r}: give a name other than {ADJUDICATOR!r}")
        self.annotator = shown(name, 60)
        self._refresh()

    def do_need(self, keys: Iterable[str]) -> dict[str, Any]:
        """Cases in full."""
        return {key: self._detail(self._case(key)) for key in keys}

    def do_save(
        self, key: str, categories: list[str], note: str = "", settle: bool = False
    ) -> None:
        """Keep a label. `settle` gives it as the adjudicator, whose label counts."""
        self.kinds.check(tuple(categories))
        annotator = ADJUDICATOR if settle else self.annotator
        case = self._case(key)
        self._add(case, self.kinds.name, *categories, annotator=annotator, note=note)

    def do_undo(self, *, settle: bool = False) -> dict[str, Any]:
        """Take the annotator's last label back, or the adjudicator's."""
        annotator = ADJUDICATOR if settle else self.annotator
        taken = self.store.undo(annotator, self.kinds.name, GOLD)
        self._refresh()
        return {"key": taken.key if taken else None}

    def do_gold(self, key: str, sql: str) -> str:
        """Run the right query, and keep it if it gives a result."""
        case = self._case(key)
        execution = self.study.lab.run(case.question, sql)
        if not execution.is_complete:
            raise BadInputError(f"not kept, since the query gives no result: {execution.error}")
        self._add(case, GOLD, CORRECTED, annotator=self.annotator, note=sql)
        return f"Gold is corrected; the query gives {execution.row_count:,} rows."

    def do_both_right(self, key: str) -> str:
        """Say that gold and the prediction are both right, or take that back."""
        marked = self.mine.get(key, {}).get("gold") == BOTH_RIGHT
        verdict = STAYS if marked else BOTH_RIGHT
        self._add(self._case(key), GOLD, verdict, annotator=self.annotator)
        return "The prediction is wrong again." if marked else "Both queries are right."

    def do_export(self) -> str:
        """Write all labels as CSV beside the store."""
        path = self.store.path.with_suffix(".csv")
        return f"{self.store.write_csv(path)} labels in {path}"

    def do_part(self, key: str, name: str) -> dict[str, Any]:
        """A part of a case that is made when it is first opened: counterexample, values or schema."""
        case = self._case(key)
        if name == "schema":
            return {"tables": _schema(case)}
        if name == "values":
            context: Context = prepare(self.run.system, case.question, self.study.lab)
            texts = (f"{v.keyword} → {v.table}.{v.column} = {v.value}" for v in context.values)
            return {"values": [shown(text, 900) for text in texts]}
        path = self.study.benchmark.database(case.question.db_id)
        executor = self.study.lab.executor
        found = counterexample(executor, path, case.gold, case.predicted, case.schema)
        if not found:
            return {}
        tables = [
            {"name": shown(one), **table(found.columns[one], rows, len(rows))}
            for one, rows in found.tables.items()
        ]
        return {"tables": tables, "gold": result(found.first), "predicted": result(found.second)}

    def _case(self, key: str) -> Case:
        """The case of a key; a key that the page kept from another run is refused, and nothing is written."""
        if key not in self.cases:
            raise BadInputError("this case is not among the cases of this cell: run the cell again")
        return self.cases[key]

    def _add(self, case: Case, *names: str, annotator: str, note: str = "") -> None:
        self.store.add([label_of(case, *names, annotator=annotator, note=note)])
        self._refresh()

    def _detail(self, case: Case) -> dict[str, Any]:
        question, guess = case.question, suggested(case, self.kinds)
        texts = {
            "id": (question.id, 300), "db": (question.db_id, 300), "difficulty": (case.difficulty, 300),
            "question": (question.text, 2_000), "hint": (question.evidence, 2_000),
            "gold": (case.gold, 20_000), "predicted": (case.predicted, 20_000),
            "why": (difference(case), 600),
        }  # fmt: skip
        agree = f"{case.agreeing} of {case.candidates} candidates agree"
        return {name: shown(*given) for name, given in texts.items()} | {
            "sql": pair(case.gold, case.predicted, case.schema),
            "goldResult": result(case.gold_execution),
            "result": result(case.execution),
            "agree": agree if case.candidates > 1 else "",
            "suggestion": [guess[0], shown(guess[1])] if guess else None,
        }

    def _refresh(self) -> None:
        """Read what this and other programs wrote."""
        labels = [one for one in self.store.labels(self.kinds.name) if one.key in self.cases]
        golds = {one.key: one.categories[0] for one in self.store.labels(GOLD, self.annotator)}
        golds = {key: verdict for key, verdict in golds.items() if verdict != STAYS}
        mine = {key: {"is": [], "note": "", "gold": verdict} for key, verdict in golds.items()}
        for one in labels:
            if one.annotator == self.annotator:
                said = {"is": [*one.categories], "note": one.note}
                mine[one.key] = said | {"gold": golds.get(one.key, "")}
        self.mine, self.summary = mine, self._summary(labels)

    def _summary(self, labels: Sequence[Label]) -> dict[str, Any]:
        """Counts, the agreement and a confusion grid with the annotator who labelled most, and the disputes."""
        said: dict[str, dict[str, tuple[str, ...]]] = {}
        for one in labels:
            said.setdefault(one.annotator, {})[one.key] = one.categories
        mine, names = said.get(self.annotator, {}), [one.name for one in self.kinds.categories]
        given = Counter(name for categories in mine.values() for name in categories)
        given |= Counter(name.partition(" / ")[0] for name in given.elements())
        others = [name for name in said if name not in {self.annotator, ADJUDICATOR}]
        other = max(others, key=lambda name: len(said[name]), default="")
        grid: dict[str, list[str]] = {}
        for key in (key for key in self.cases if key in mine and key in said.get(other, {})):
            down, across = (
                sorted({names.index(name.partition(" / ")[0]) for name in one[key]})
                for one in (mine, said[other])
            )
            for cell in zip(down, across, strict=True) if down == across else product(down, across):
                grid.setdefault(f"{cell[0]} {cell[1]}", []).append(key)
        told = []
        for row in agreement(labels).to_dict("records"):
            who = row["annotators"].split(", ")
            told += [sentence(row)] if {*who} == {self.annotator, other} else []
            told += [f"All {len(who)}: {sentence(row)}"] if len(who) > 2 else []
        split = disputes(labels)
        return {
            "annotators": sorted({*said, self.annotator} - {ADJUDICATOR}),
            "counts": [
                [one, given[one]] for one in self.kinds.choices() if one in names or given[one]
            ],
            "other": other,
            "agreement": told,
            "names": names,
            "grid": grid,
            "disputes": [
                {"key": key, "said": {one.annotator: [*one.categories] for one in split[key]}}
                for key in self.cases
                if key in split
            ],
        }


def _schema(case: Case) -> list[dict[str, Any]]:
    """The tables of both queries first; each column with the queries that use it."""
    by = {"gold": used(case.gold, case.schema), "prediction": used(case.predicted, case.schema)}
    found = []
    for one in sorted(
        case.schema.tables, key=lambda t: all(t.name not in use.tables for use in by.values())
    ):
        columns = []
        for column in one.columns:
            meaning = "; ".join(filter(None, (column.description, column.value_description)))
            users = [side for side, use in by.items() if (one.name, column.name) in use.columns]
            texts = (column.name, column.type, meaning, " and ".join(users))
            columns.append([shown(text, 160) for text in texts])
        found.append({"name": shown(one.name), "columns": columns})
    return found
