"""The labelling widget: cases are sent ahead, and a label is on disk at once."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import traitlets

from workbench.errors import BadInputError
from workbench.label import store
from workbench.label.cases import (
    Case,
    Taxonomy,
    cases,
    difference,
    open_taxonomy,
    suggested,
)
from workbench.sql.counterexample import counterexample
from workbench.sql.texts import create_table_text
from workbench.study.run import Run
from workbench.study.study import Study
from workbench.systems.system import prepare
from workbench.widgets import (
    Desk,
    differing,
    many,
    pair,
    result,
    script,
    shown,
    to_page,
)

_SENT_AHEAD = (
    6  # cases: the one that is shown, and those that the page wants ahead of it
)


def label(
    study: Study,
    runs: Run | Mapping[str, Run],
    taxonomy: str = "CHASE-SQL",
    annotator: str = "me",
) -> "Labeller":
    """Return a widget in which an annotator sorts the wrong answers of a run, or of several.

    The taxonomy is a paper's or a YAML file of one's own. Labels lie in the workbench's home,
    under the benchmark's name.
    """
    kinds = open_taxonomy(taxonomy)
    labels = store.LabelStore.named(study.benchmark.name)
    shown_cases: list[Case] = []
    for run in runs.values() if isinstance(runs, Mapping) else [runs]:
        shown_cases += cases(study, run, kinds)
    return Labeller(study, shown_cases, kinds, labels, annotator)


class Labeller(Desk):
    """Shows one case after another: `rows` names all, `detail` has the first ones in full."""

    _esm = script(Path(__file__).with_name("labeller.js"))
    taxonomy: Any = traitlets.Dict().tag(sync=True)
    annotator = traitlets.Unicode().tag(sync=True)
    # By the case's key: the annotator's labels (`is`), their note, and the verdict on gold.
    # The page sends notes back, so they stay as they were typed.
    mine: Any = traitlets.Dict().tag(sync=True)
    summary: Any = traitlets.Dict().tag(sync=True, to_json=to_page)

    def __init__(
        self,
        study: Study,
        shown_cases: Sequence[Case],
        taxonomy: Taxonomy,
        labels: store.LabelStore,
        annotator: str,
    ) -> None:
        self.study = study
        self.kinds = taxonomy
        self.store = labels
        self.cases = {case.key: case for case in shown_cases}
        super().__init__(
            taxonomy=taxonomy.model_dump(
                include={"name", "several", "categories"}, mode="json"
            ),
            rows=[
                {"key": key, "id": case.question.id} for key, case in self.cases.items()
            ],
        )
        self.do_annotator(annotator)
        labelled = {key for key, label in self.mine.items() if label["is"]}
        # The page begins at the first unlabelled case, and asks for what lies further ahead.
        unlabelled_first = sorted(self.cases, key=labelled.__contains__)
        self.detail = self.do_need(unlabelled_first[:_SENT_AHEAD])

    def do_annotator(self, name: str) -> None:
        name = name.strip()
        if not name or name.lower() == store.ADJUDICATOR:
            raise BadInputError(
                f"annotator {name!r}: give a name other than {store.ADJUDICATOR!r}"
            )
        self.annotator = shown(name, 60)
        self._refresh()

    def do_need(self, keys: Iterable[str]) -> dict[str, Any]:
        return {key: self._detail(self._case(key)) for key in keys}

    def do_save(
        self,
        key: str,
        categories: list[str],
        note: str = "",
        *,
        settle: bool = False,
        was: list[str] | None = None,
    ) -> list[str] | None:
        """Keep the annotator's label, or with `settle` the adjudicator's, which ends a dispute.

        `was` is the label that the page knew. If the annotator has given another one since, as in
        another window, that one is replaced, and returned so that the page can say so.
        """
        self.kinds.check(tuple(categories))
        elsewhere = None
        if was is not None and not settle:
            elsewhere = self._label_elsewhere(key, was)
        annotator = store.ADJUDICATOR if settle else self.annotator
        self._add(key, annotator, self.kinds.name, categories, note)
        return elsewhere

    def do_undo(self, *, settle: bool = False) -> dict[str, Any]:
        """Take the annotator's last label back, or the adjudicator's."""
        annotator = store.ADJUDICATOR if settle else self.annotator
        taken = self.store.undo(annotator, self.kinds.name, store.GOLD)
        self._refresh()
        return {"key": taken.key if taken else None}

    def do_gold(self, key: str, sql: str) -> str:
        execution = self.study.lab.run(self._case(key).question, sql)
        if not execution.is_complete:
            raise BadInputError(
                f"not kept, since the query gives no result: {execution.error}"
            )
        self._add(key, self.annotator, store.GOLD, [store.CORRECTED], note=sql)
        return f"Gold is corrected; the query gives {many(execution.row_count, 'row')}."

    def do_both_right(self, key: str) -> str:
        """Keep that the prediction is a right answer beside gold, as `write_golds` writes it."""
        self._add(key, self.annotator, store.GOLD, [store.BOTH_RIGHT])
        return "Both queries are right."

    def do_export(self) -> str:
        path = self.store.path.with_suffix(".csv")
        return f"{many(self.store.write_csv(path), 'label')} in {path}"

    # Parts of a case that are first made when they are opened.

    def do_schema(self, key: str) -> dict[str, Any]:
        return {"text": create_table_text(self._case(key).schema)}

    def do_values(self, key: str) -> dict[str, Any]:
        """Return the values that the system's retrieval found for the question."""
        case = self._case(key)
        texts = []
        for match in prepare(case.system, case.question, self.study.lab).values:
            text = f"{match.keyword} → {match.table}.{match.column} = {match.value}"
            texts.append(text)
        return {"values": texts}

    def do_counterexample(self, key: str) -> dict[str, Any]:
        """Return a small database on which the two queries differ; {} if none was found."""
        case = self._case(key)
        lab = self.study.lab
        path = lab.database(case.question.db_id)
        example = counterexample(
            lab.executor, path, case.gold, case.predicted, case.schema
        )
        if not example:
            return {}
        tables = []
        for table, rows in example.tables.items():
            tables.append({"name": table} | result(rows))
        return {
            "tables": tables,
            "gold": result(example.first),
            "predicted": result(example.second),
            "only": differing(example.first, example.second),
        }

    def _case(self, key: str) -> Case:
        if key not in self.cases:
            raise BadInputError(
                "this case is not among the cases of this cell: run the cell again"
            )
        return self.cases[key]

    def _add(
        self,
        key: str,
        annotator: str,
        taxonomy: str,
        categories: Sequence[str],
        note: str = "",
    ) -> None:
        case = self._case(key)
        self.store.add([store.Label.of(case, annotator, taxonomy, categories, note)])
        self._refresh()

    def _label_elsewhere(self, key: str, was: Sequence[str]) -> list[str] | None:
        """Return the annotator's label of a case, if it is another one than the page knew."""
        for label in self.store.labels(self.kinds.name):
            is_mine = label.key == key and label.annotator == self.annotator
            if is_mine and set(label.categories) != set(was):
                return list(label.categories)
        return None

    def _detail(self, case: Case) -> dict[str, Any]:
        question = case.question
        agree = ""
        if case.candidates > 1:
            agree = f"{case.agreeing} of {case.candidates} candidates agree"
        label = suggested(case, self.kinds)
        suggestion = {"label": label.name, "why": label.why} if label else None
        return {
            "id": question.id,
            "db": question.db_id,
            "difficulty": case.difficulty,
            "question": question.text,
            "hint": question.evidence,
            "gold": case.gold,
            "predicted": case.predicted,
            "why": difference(case),
            "agree": agree,
            "sql": pair(case.gold, case.predicted, case.schema),
            "goldResult": result(case.gold_execution),
            "result": result(case.execution),
            "only": case.results.only,
            "suggestion": suggestion,
        }

    def _refresh(self) -> None:
        """Read what this and other programs wrote."""
        labels = [label for label in self.store.labels() if label.key in self.cases]
        self.mine = self._mine(labels)
        self.summary = self._summary(list(filter(self._is_current, labels)))

    def _is_current(self, label: store.Label) -> bool:
        """Whether a label is one that the taxonomy has."""
        names = set(label.categories)
        return (
            label.taxonomy == self.kinds.name and names <= self.kinds.choices().keys()
        )

    def _mine(self, labels: Iterable[store.Label]) -> dict[str, dict[str, Any]]:
        mine: dict[str, dict[str, Any]] = {}
        for label in labels:
            if label.annotator != self.annotator:
                continue
            entry = mine.setdefault(label.key, {"is": [], "note": "", "gold": ""})
            if label.taxonomy == store.GOLD:
                entry["gold"] = label.categories[0]
            elif self._is_current(label):
                entry |= {"is": list(label.categories), "note": label.note}
        return mine

    def _summary(self, labels: Sequence[store.Label]) -> dict[str, Any]:
        """Return the disputes, and the agreement and grid with who else labelled most."""
        said = defaultdict[str, dict[str, list[str]]](dict)  # by case and annotator
        for label in labels:
            said[label.key][label.annotator] = list(label.categories)
        count = Counter(label.annotator for label in labels)
        others = sorted(count.keys() - {self.annotator, store.ADJUDICATOR})
        partner = max(others, key=count.__getitem__, default="")
        grid = self._grid(said, partner)
        agreement = ""
        if grid:
            agreement = str(store.agreement(labels, self.annotator, partner))
        final = store.final(labels)
        disputed = [key for key in self.cases if key in final and not final[key]]
        return {
            "annotators": sorted({self.annotator, *others}),
            "other": partner,
            "agreement": agreement,
            "grid": grid,
            "disputes": [{"key": key, "said": said[key]} for key in disputed],
        }

    def _grid(
        self, said: Mapping[str, Mapping[str, Sequence[str]]], other: str
    ) -> dict[str, list[str]]:
        """Return the cases of each cell of the confusion grid, by its row's and column's number.

        Labels that agree are on the diagonal alone; else each pair of different labels counts.
        """
        grid: defaultdict[str, list[str]] = defaultdict(list)
        for key in self.cases:
            labels = said[key]
            if self.annotator not in labels or other not in labels:
                continue
            rows = self._numbers(labels[self.annotator])
            columns = self._numbers(labels[other])
            cells: Iterable[tuple[int, int]] = product(rows, columns)
            if rows == columns:
                cells = zip(rows, columns, strict=True)
            for row, column in cells:
                grid[f"{row} {column}"].append(key)
        return grid

    def _numbers(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of the categories of a case's labels, such as "Other / Column"."""
        known = [category.name for category in self.kinds.categories]
        return sorted({known.index(name.partition(" / ")[0]) for name in names})
