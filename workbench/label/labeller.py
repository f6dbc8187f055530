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
    # By the case's key: the annotator's labels and note, and the verdict on gold.
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
        unlabelled = [key for key in self.cases if not self.mine.get(key, {}).get("is")]
        self.detail = self.do_need(
            [*unlabelled, *self.cases][:6]
        )  # the first case, and five ahead

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
        self._add(key, annotator, self.kinds.name, *categories, note=note)
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
        self._add(key, self.annotator, store.GOLD, store.CORRECTED, note=sql)
        return f"Gold is corrected; the query gives {many(execution.row_count, 'row')}."

    def do_both_right(self, key: str) -> str:
        self._add(key, self.annotator, store.GOLD, store.BOTH_RIGHT)
        return "Both queries are right."

    def do_export(self) -> str:
        path = self.store.path.with_suffix(".csv")
        return f"{many(self.store.write_csv(path), 'label')} in {path}"

    def do_part(self, key: str, name: str) -> dict[str, Any]:
        """Return a part of a case when it is first opened: counterexample, values or schema."""
        case = self._case(key)
        lab = self.study.lab
        if name == "schema":
            return {"text": shown(create_table_text(case.schema), 50_000)}
        if name == "values":
            texts = []
            for match in prepare(case.system, case.question, lab).values:
                text = f"{match.keyword} → {match.table}.{match.column} = {match.value}"
                texts.append(shown(text, 900))
            return {"values": texts}
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

    def _add(self, key: str, annotator: str, *names: str, note: str = "") -> None:
        label = store.Label.of(self._case(key), *names, annotator=annotator, note=note)
        self.store.add([label])
        self._refresh()

    def _label_elsewhere(self, key: str, was: Sequence[str]) -> list[str] | None:
        """Return the annotator's label of a case, if it is another one than the page knew."""
        for label in self.store.labels(self.kinds.name):
            if label.key == key and label.annotator == self.annotator:
                is_known = set(label.categories) == set(was)
                return None if is_known else list(label.categories)
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
        suggestion = None
        label_and_reason = suggested(case, self.kinds)
        if label_and_reason:
            name, why = label_and_reason
            suggestion = [name, shown(why)]
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
        mine: defaultdict[str, Any] = defaultdict(
            lambda: {"is": [], "note": "", "gold": ""}
        )
        for label in self.store.labels():
            if label.key not in self.cases:
                continue
            is_mine = label.annotator == self.annotator
            are_known = all(name in known for name in label.categories)
            if label.taxonomy == self.kinds.name and are_known:
                labels.append(label)
                if is_mine:
                    mine[label.key]["is"] = list(label.categories)
                    mine[label.key]["note"] = label.note
            elif label.taxonomy == store.GOLD and is_mine:
                mine[label.key]["gold"] = label.categories[0]
        self.mine = mine
        self.summary = self._summary(labels)

    def _summary(self, labels: Sequence[store.Label]) -> dict[str, Any]:
        """Return counts and disputes; agreement and grid with who else labelled most."""
        by_annotator: defaultdict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        for label in labels:
            by_annotator[label.annotator][label.key] = label.categories
        others = sorted(by_annotator.keys() - {self.annotator, store.ADJUDICATOR})
        other = max(
            others, key=lambda annotator: len(by_annotator[annotator]), default=""
        )
        grid = self._grid(by_annotator[self.annotator], by_annotator[other])
        agreements = []
        if grid:
            two = [
                label for label in labels if label.annotator in {self.annotator, other}
            ]
            agreements.append(store.sentence(store.agreement(two)))
        if len(others) > 1:
            all_of_them = store.sentence(store.agreement(labels))
            agreements.append(f"All {1 + len(others)}: {all_of_them}")
        return {
            "annotators": sorted({self.annotator, *others}),
            "counts": self._counts(by_annotator[self.annotator]),
            "other": other,
            "agreement": agreements,
            "names": [category.name for category in self.kinds.categories],
            "grid": grid,
            "disputes": self._disputes(labels),
        }

    def _disputes(self, labels: Sequence[store.Label]) -> list[dict[str, Any]]:
        """Return the cases without a label that counts, with what each annotator says."""
        said: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
        for label in labels:
            said[label.key][label.annotator] = list(label.categories)
        disputed = {key for key, label in store.final(labels).items() if label is None}
        return [
            {"key": key, "said": said[key]} for key in self.cases if key in disputed
        ]

    def _counts(self, labels: Mapping[str, tuple[str, ...]]) -> list[list[Any]]:
        """Return each category with its number of labels, and those of its parts that have one."""
        counts: Counter[str] = Counter()
        for names in labels.values():
            for name in names:
                counts.update({name, _category(name)})
        choices = self.kinds.choices()
        listed = [name for name in choices if counts[name] or name == _category(name)]
        return [[name, counts[name]] for name in listed]

    def _grid(
        self, mine: Mapping[str, tuple[str, ...]], theirs: Mapping[str, tuple[str, ...]]
    ) -> dict[str, list[str]]:
        """Return the cases of each cell of the confusion grid, by its row's and column's number."""
        grid: defaultdict[str, list[str]] = defaultdict(list)
        for key in self.cases:
            if key not in mine or key not in theirs:
                continue
            rows = self._numbers(mine[key])
            columns = self._numbers(theirs[key])
            if rows == columns:  # they agree, so the cells are on the diagonal
                cells = list(zip(rows, columns, strict=True))
            else:
                cells = list(product(rows, columns))
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
