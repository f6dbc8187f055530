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
from workbench.widgets import Desk, differing, many, pair, result, script, shown


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
    mine: Any = traitlets.Dict().tag(sync=True)
    summary: Any = traitlets.Dict().tag(sync=True)

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
                {"key": key, "id": shown(case.question.id)}
                for key, case in self.cases.items()
            ],
        )
        self.do_annotator(annotator)
        labelled = {key for key, label in self.mine.items() if label["is"]}
        first = sorted(self.cases, key=labelled.__contains__)
        self.detail = self.do_need(first[:6])

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

        `was` is the label that the page knew. Another one, given in another window, is returned.
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
        self._add(key, self.annotator, store.GOLD, [store.BOTH_RIGHT])
        return "Both queries are right."

    def do_export(self) -> str:
        path = self.store.path.with_suffix(".csv")
        return f"{many(self.store.write_csv(path), 'label')} in {path}"

    # Parts of a case that are first made when they are opened.

    def do_schema(self, key: str) -> dict[str, Any]:
        return {"text": shown(create_table_text(self._case(key).schema), 50_000)}

    def do_values(self, key: str) -> dict[str, Any]:
        """Return the values that the system's retrieval found for the question."""
        case = self._case(key)
        texts = []
        for match in prepare(case.system, case.question, self.study.lab).values:
            text = f"{match.keyword} → {match.table}.{match.column} = {match.value}"
            texts.append(shown(text, 900))
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
        tables = [
            {"name": shown(table), **result(rows)}
            for table, rows in example.tables.items()
        ]
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
        texts = {
            "id": question.id,
            "db": question.db_id,
            "difficulty": case.difficulty,
            "question": question.text,
            "hint": question.evidence,
            "gold": case.gold,
            "predicted": case.predicted,
            "why": difference(case),
            "agree": agree,
        }
        label = suggested(case, self.kinds)
        suggestion = None
        if label:
            suggestion = {"label": label.name, "why": shown(label.why)}
        detail: dict[str, Any] = {
            name: shown(text, 20_000) for name, text in texts.items()
        }
        return detail | {
            "sql": pair(case.gold, case.predicted, case.schema),
            "goldResult": result(case.gold_execution),
            "result": result(case.execution),
            "only": case.results.only,
            "suggestion": suggestion,
        }

    def _refresh(self) -> None:
        """Read what this and other programs wrote."""
        known = self.kinds.choices().keys()
        labels = []
        mine: dict[str, dict[str, Any]] = {}
        for label in self.store.labels():
            if label.key not in self.cases:
                continue
            is_known = label.taxonomy == self.kinds.name and known >= {
                *label.categories
            }
            if is_known:
                labels.append(label)
            if label.annotator != self.annotator:
                continue
            nothing = {"is": [], "note": "", "gold": ""}
            kept = mine.setdefault(label.key, nothing)
            if is_known:
                kept |= {"is": list(label.categories), "note": label.note}
            elif label.taxonomy == store.GOLD:
                kept["gold"] = label.categories[0]
        self.mine = mine
        self.summary = self._summary(labels)

    def _summary(self, labels: Sequence[store.Label]) -> dict[str, Any]:
        """Return counts and disputes; agreement and grid with who else labelled most."""
        said: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)  # by case
        for label in labels:
            said[label.key][label.annotator] = list(label.categories)
        number = Counter(label.annotator for label in labels)
        others = sorted(number.keys() - {self.annotator, store.ADJUDICATOR})
        other = max(others, key=number.__getitem__, default="")
        grid = self._grid(said, other)
        agreements = []
        if grid:
            both = {self.annotator, other}
            labels_of_both = [label for label in labels if label.annotator in both]
            agreements.append(store.sentence(store.agreement(labels_of_both)))
        if len(others) > 1:
            all_of_them = store.sentence(store.agreement(labels))
            agreements.append(f"All {1 + len(others)}: {all_of_them}")
        final = store.final(labels)
        disputed = [key for key in self.cases if key in final and not final[key]]
        return {
            "annotators": sorted({self.annotator, *others}),
            "counts": self._counts(),
            "other": other,
            "agreement": agreements,
            "names": [category.name for category in self.kinds.categories],
            "grid": grid,
            "disputes": [{"key": key, "said": said[key]} for key in disputed],
        }

    def _counts(self) -> list[list[Any]]:
        """Return each category with its number of labels, and those of its parts that have one."""
        counts: Counter[str] = Counter()
        for label in self.mine.values():
            for name in label["is"]:
                counts.update({name, _category(name)})
        choices = self.kinds.choices()
        listed = [name for name in choices if counts[name] or name == _category(name)]
        return [[name, counts[name]] for name in listed]

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
            agree = rows == columns
            cells = zip(rows, columns, strict=True) if agree else product(rows, columns)
            for row, column in cells:
                grid[f"{row} {column}"].append(key)
        return grid

    def _numbers(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of the categories of a case's labels."""
        categories = {_category(name) for name in names}
        known = [category.name for category in self.kinds.categories]
        return sorted(known.index(name) for name in categories)


def _category(name: str) -> str:
    """Return the first level of a label such as "Vague Question / Column"."""
    return name.partition(" / ")[0]
