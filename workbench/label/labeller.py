"""The labelling widget: cases are sent ahead, a label is on disk at once, and a summary follows each label."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import traitlets

from workbench.errors import BadInputError
from workbench.label import store
from workbench.label.cases import Case, Taxonomy, cases, difference, open_taxonomy, suggested
from workbench.sql.counterexample import counterexample
from workbench.sql.texts import create_table_text
from workbench.study.run import Run
from workbench.study.study import Study
from workbench.systems.system import prepare
from workbench.widgets import Desk, pair, result, script, shown


def label(study: Study, run: Run, taxonomy: str = "CHASE-SQL", annotator: str = "me") -> "Labeller":
    """A widget in which an annotator sorts the wrong answers of a run that the taxonomy is about.

    The taxonomy is a paper's or a YAML file of one's own. Labels lie in the workbench's home, under the benchmark's name.
    """
    kinds = open_taxonomy(taxonomy)
    labels = store.LabelStore.named(study.benchmark.name)
    return Labeller(study, run, cases(study, run, kinds), kinds, labels, annotator)


class Labeller(Desk):
    """The page shows one case after another: `rows` names all of them, and `detail` has the first ones in full."""

    _esm = script(Path(__file__).with_name("labeller.js"))
    taxonomy: Any = traitlets.Dict().tag(sync=True)
    annotator = traitlets.Unicode().tag(sync=True)
    # By the case's key: the annotator's labels and note, and the verdict on gold.
    mine: Any = traitlets.Dict().tag(sync=True)
    summary: Any = traitlets.Dict().tag(sync=True)

    def __init__(
        self, study: Study, run: Run, shown_cases: Sequence[Case], taxonomy: Taxonomy, labels: store.LabelStore,
        annotator: str,
    ) -> None:  # fmt: skip
        self.study, self.run, self.kinds, self.store = study, run, taxonomy, labels
        self.cases = {case.key: case for case in shown_cases}
        super().__init__(
            taxonomy=taxonomy.model_dump(include={"name", "several", "categories"}, mode="json"),
            rows=[{"key": key, "id": shown(case.question.id)} for key, case in self.cases.items()],
        )
        self.do_annotator(annotator)
        left = [key for key in self.cases if key not in self.mine or not self.mine[key]["is"]]
        self.detail = self.do_need([*left, *self.cases][:6])  # the first case, and five ahead

    def do_annotator(self, name: str) -> None:
        name = name.strip()
        if not name or name.lower() == store.ADJUDICATOR:
            raise BadInputError(f"annotator {name!r}: give a name other than {store.ADJUDICATOR!r}")
        self.annotator = shown(name, 60)
        self._refresh()

    def do_need(self, keys: Iterable[str]) -> dict[str, Any]:
        return {key: self._detail(self._case(key)) for key in keys}

    def do_save(self, key: str, categories: list[str], **given: Any) -> None:
        """Keep a label of the annotator, or with `settle` the adjudicator's, which settles a dispute."""
        self.kinds.check(tuple(categories))
        self._add(key, self.kinds.name, *categories, **given)

    def do_undo(self, *, settle: bool = False) -> dict[str, Any]:
        """Take the annotator's last label back, or the adjudicator's."""
        taken = self.store.undo(
            store.ADJUDICATOR if settle else self.annotator, self.kinds.name, store.GOLD
        )
        self._refresh()
        return {"key": taken.key if taken else None}

    def do_gold(self, key: str, sql: str) -> str:
        execution = self.study.lab.run(self._case(key).question, sql)
        if not execution.is_complete:
            raise BadInputError(f"not kept, since the query gives no result: {execution.error}")
        self._add(key, store.GOLD, store.CORRECTED, note=sql)
        return f"Gold is corrected; the query gives {execution.row_count:,} rows."

    def do_both_right(self, key: str) -> str:
        self._add(key, store.GOLD, store.BOTH_RIGHT)
        return "Both queries are right."

    def do_export(self) -> str:
        path = self.store.path.with_suffix(".csv")
        return f"{self.store.write_csv(path)} labels in {path}"

    def do_part(self, key: str, name: str) -> dict[str, Any]:
        """A part of a case, made when it is first opened: counterexample, values or schema."""
        case, lab = self._case(key), self.study.lab
        if name == "schema":
            return {"text": shown(create_table_text(case.schema), 50_000)}
        if name == "values":
            values = prepare(self.run.system, case.question, lab).values
            texts = (f"{v.keyword} → {v.table}.{v.column} = {v.value}" for v in values)
            return {"values": [shown(text, 900) for text in texts]}
        path = lab.database(case.question.db_id)
        found = counterexample(lab.executor, path, case.gold, case.predicted, case.schema)
        if not found:
            return {}
        tables = [{"name": shown(one), **result(rows)} for one, rows in found.tables.items()]
        return {"tables": tables, "gold": result(found.first), "predicted": result(found.second)}

    def _case(self, key: str) -> Case:
        if key not in self.cases:
            raise BadInputError("this case is not among the cases of this cell: run the cell again")
        return self.cases[key]

    def _add(self, key: str, *names: str, note: str = "", settle: bool = False) -> None:
        annotator = store.ADJUDICATOR if settle else self.annotator
        self.store.add([store.Label.of(self._case(key), *names, annotator=annotator, note=note)])
        self._refresh()

    def _detail(self, case: Case) -> dict[str, Any]:
        question, guess = case.question, suggested(case, self.kinds)
        texts = {
            "id": question.id, "db": question.db_id, "difficulty": case.difficulty,
            "question": question.text, "hint": question.evidence,
            "gold": case.gold, "predicted": case.predicted, "why": difference(case),
            "agree": f"{case.agreeing} of {case.candidates} candidates agree" * (case.candidates > 1),
        }  # fmt: skip
        return {name: shown(text, 20_000) for name, text in texts.items()} | {
            "sql": pair(case.gold, case.predicted, case.schema),
            "goldResult": result(case.gold_execution),
            "result": result(case.execution),
            "suggestion": [guess[0], shown(guess[1])] if guess else None,
        }

    def _refresh(self) -> None:
        """Read what this and other programs wrote."""
        given = [one for one in self.store.labels() if one.key in self.cases]
        known = self.kinds.choices().keys()
        labels = [
            one for one in given if one.taxonomy == self.kinds.name and known >= {*one.categories}
        ]
        mine: defaultdict[str, Any] = defaultdict(lambda: {"is": [], "note": "", "gold": ""})
        for one in given:
            if one.annotator == self.annotator and one.taxonomy == store.GOLD:
                mine[one.key]["gold"] = one.categories[0]
        for one in labels:
            if one.annotator == self.annotator:
                mine[one.key] |= {"is": [*one.categories], "note": one.note}
        self.mine, self.summary = mine, self._summary(labels)

    def _summary(self, labels: Sequence[store.Label]) -> dict[str, Any]:
        """Counts; agreement and confusion grid with the other annotator who labelled most; and disputes."""
        said: defaultdict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        for one in labels:
            said[one.annotator][one.key] = one.categories
        others = sorted(said.keys() - {self.annotator, store.ADJUDICATOR})
        other = max(others, key=lambda who: len(said[who]), default="")
        mine, names = said[self.annotator], [one.name for one in self.kinds.categories]
        tops = {name: name.partition(" / ")[0] for name in self.kinds.choices()}
        given = Counter(n for each in mine.values() for name in each for n in {name, tops[name]})
        grid: defaultdict[str, list[str]] = defaultdict(list)
        for key in (key for key in self.cases if key in mine and key in said[other]):
            both = (mine[key], said[other][key])
            down, across = (sorted({names.index(tops[name]) for name in side}) for side in both)
            for cell in zip(down, across, strict=True) if down == across else product(down, across):
                grid["{} {}".format(*cell)].append(key)
        two = store.agreement(one for one in labels if one.annotator in {self.annotator, other})
        told = [store.sentence(two)] if grid else []
        if len(others) > 1:
            told.append(f"All {1 + len(others)}: {store.sentence(store.agreement(labels))}")
        disputed = {key for key, one in store.final(labels).items() if one is None}
        return {
            "annotators": sorted({self.annotator, *others}),
            "counts": [[n, given[n]] for n in tops if n in names or given[n]],
            "other": other,
            "agreement": told,
            "names": names,
            "grid": grid,
            "disputes": [
                {"key": key, "said": {who: [*own[key]] for who, own in said.items() if key in own}}
                for key in self.cases
                if key in disputed
            ],
        }
