"""The folder `report` beside report.html: questions, SQL, calls and prompts behind every number, without a network.

`index.html#NAME` shows a figure's data, `#NAME.3` row 3 of it, and `#call.7` a call. A browser does not let a page read
the files of a folder, but runs scripts from it, so each file is a script that passes gzipped JSON to the page. Parts of
prompts that calls share are written once, as in the cache.
"""

import base64
import gzip
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.named import open_benchmark
from workbench.db.execute import Executor
from workbench.errors import BadInputError, secrets
from workbench.evaluate.ex import ex_verdicts
from workbench.experiment.report.pieces import Piece
from workbench.html.parts import page
from workbench.html.tree import Raw, element
from workbench.llm.cache.rows import part_ids
from workbench.llm.provider import without_secrets
from workbench.store import Store
from workbench.study.trace import (
    QuestionCandidates,
    candidates_by_question,
    counted_candidates,
    data_rows,
)

FOLDER = "report"
_VIEWER = Path(__file__).with_name("viewer.js")
_CALLS, _TEXTS = 400, 600  # calls in a file, parts of prompts in a file
_FILTERS = ("question_ids", "question_id", "db_id", "difficulty", "generator", "other", "sample", "counted")  # fmt: skip


@dataclass(slots=True)
class Bundle:
    """The bundle as written: for each figure and table the rows that lead to their questions, and its size."""

    rows: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    linked: set[tuple[str, int]] = field(default_factory=set)
    runs: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The name and the composition of each run behind a number, by its id."""
    calls: int = 0
    size: int = 0


def write_bundle(
    folder: Path, pieces: Sequence[Piece], store: Store, root: Path | None = None
) -> Bundle:
    """Write the folder anew; `root` is where the benchmark was unpacked."""
    target = folder / FOLDER
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    written = _Folder(target)
    bundle = Bundle()
    data = {piece.name: data_rows(piece.data) for piece in pieces if piece.data.is_file()}
    bundle.rows = data
    wanted = {run for table in data.values() for row in table for run in row.get("run", "").split()}
    stored = store.read_keys("SELECT id, name, system, benchmark FROM runs WHERE id IN", [*wanted])
    found = {run: list(candidates_by_question(run, store)) for run, *_ in stored}
    bundle.runs = {run: (name, system) for run, name, system, _ in stored}
    numbers = _numbered(found.values())
    written.write("rows", _sets(bundle, pieces, found))
    with Executor(store) as executor:
        for number, benchmark in enumerate(sorted({benchmark for *_, benchmark in stored})):
            mine = {run: found[run] for run, *_, own in stored if own == benchmark}
            opened = _opened(benchmark, root)
            verdicts = _verdicts(opened, mine.values(), executor) if opened else {}
            for run, asked in mine.items():
                about = {"name": bundle.runs[run][0], "questions": f"questions-{number}"}
                answers = [_answers(one, numbers, verdicts) for one in asked]
                written.write(f"run-{run}", about | {"answers": answers})
            texts = (
                {q.id: (q.text, q.evidence, opened.golds[q.id].sql) for q in opened.questions}
                if opened
                else {}
            )
            written.write(f"questions-{number}", texts)
    _write_calls(written, numbers, store)
    (target / "viewer.js").write_bytes(_VIEWER.read_bytes())
    shell = (element("div", id="shown"), Raw('<script src="viewer.js"></script>'))
    (target / "index.html").write_text(page("Behind a number", *shell), encoding="utf-8")
    bundle.calls = len(numbers)
    bundle.size = sum(path.stat().st_size for path in target.iterdir())
    return bundle


@dataclass(frozen=True, slots=True)
class _Folder:
    path: Path
    secrets: list[str] = field(default_factory=secrets)

    def write(self, name: str, content: Any) -> None:
        plain = orjson.loads(orjson.dumps(content))
        text = orjson.dumps(without_secrets(self.secrets, plain))
        packed = base64.b64encode(gzip.compress(text, 6, mtime=0)).decode()
        (self.path / f"{name}.js").write_text(f'arrived("{name}", "{packed}")\n')


def _opened(name: str, root: Path | None) -> Benchmark | None:
    """The benchmark, or None if its files are not on this computer."""
    try:
        return open_benchmark(name, root)
    except (BadInputError, OSError):
        return None


def _numbered(found: Iterable[Sequence[QuestionCandidates]]) -> dict[str, int]:
    """A number for the key of each call behind a candidate."""
    keys = {
        key
        for asked in found
        for missing, trials in asked
        for one in (missing, *trials)
        for key in one.calls
    }
    return {key: number for number, key in enumerate(sorted(keys))}


def _sets(
    bundle: Bundle, pieces: Sequence[Piece], found: Mapping[str, Sequence[QuestionCandidates]]
) -> dict[str, Any]:
    """The rows of every figure and table, each with the questions and candidates that it counts.

    Rows that count the same answers share one entry of `sets`: (index of the question, indexes of its candidates).
    """
    sets: list[Any] = []
    known: dict[tuple[str, ...], int] = {}
    tables = {}
    for piece in pieces:
        lines = []
        for number, row in enumerate(bundle.rows.get(piece.name, ())):
            counted = []
            for run in row.get("run", "").split():
                if run not in found:
                    continue
                key = (run, *(row.get(name, "\0") for name in _FILTERS))
                if key not in known:
                    known[key] = len(sets)
                    sets.append(_indexes(found[run], row))
                if sets[known[key]]:
                    counted.append((run, known[key]))
                    bundle.linked.add((piece.name, number))
            hidden = {"run", "question_ids", "counted"}
            cells = {name: value for name, value in row.items() if name not in hidden}
            lines.append({"cells": cells, "sets": counted})
        tables[piece.name] = {"heading": piece.heading, "stamp": piece.stamp, "rows": lines}
    return {"tables": tables, "sets": sets}


def _indexes(
    asked: Sequence[QuestionCandidates], row: Mapping[str, str]
) -> list[tuple[int, list[int]]]:
    """The questions that a row counts and their counted candidates, by index; a question may have none."""
    counted = {id(one) for one in counted_candidates(asked, row)}
    indexes = (
        (
            number,
            [index for index, one in enumerate(trials) if id(one) in counted],
            id(missing) in counted,
        )
        for number, (missing, trials) in enumerate(asked)
    )
    return [(number, inside) for number, inside, empty in indexes if inside or empty]


def _verdicts(
    benchmark: Benchmark, found: Iterable[Sequence[QuestionCandidates]], executor: Executor
) -> dict[tuple[str, str], bool]:
    """Whether each candidate is right, in the benchmark's sense of EX."""
    known = {question.id for question in benchmark.questions}
    pairs = dict.fromkeys(
        (one.question_id, one.sql)
        for asked in found
        for _, trials in asked
        for one in trials
        if one.question_id in known
    )
    return dict(zip(pairs, ex_verdicts(benchmark, list(pairs), executor), strict=True))


def _answers(
    asked: QuestionCandidates,
    numbers: Mapping[str, int],
    verdicts: Mapping[tuple[str, str], bool],
) -> tuple[Any, ...]:
    """A question of a run with its candidates, which refer to their SQL by its index in a list."""
    missing, trials = asked
    queries = list(dict.fromkeys(one.sql for one in trials))
    lines = [
        (
            one.generator,
            one.sample,
            queries.index(one.sql),
            one.status,
            one.chosen,
            [numbers[key] for key in one.calls],
        )
        for one in trials
    ]
    right = [verdicts.get((missing.question_id, sql)) for sql in queries]
    about = (missing.question_id, missing.db_id, missing.difficulty)
    return (*about, queries, right, lines, [numbers[key] for key in missing.calls])


def _write_calls(written: _Folder, numbers: Mapping[str, int], store: Store) -> None:
    """Write the calls and the parts of their prompts; sorted parts pack better, since neighbours are alike."""
    columns = "key, prompt, model, parameters, messages, text, finish_reason, input_tokens, output_tokens, cost"
    stored = {
        row[0]: row
        for row in store.read_keys(f"SELECT {columns} FROM calls WHERE key IN", sorted(numbers))
    }
    messages = {key: orjson.loads(row[4]) for key, row in stored.items()}
    parts = {part for sent in messages.values() for part in part_ids(sent)}
    texts = sorted(
        store.read_keys("SELECT id, text FROM texts WHERE id IN", sorted(parts)),
        key=lambda row: str(row[1]),
    )
    indexes = {number: index for index, (number, _) in enumerate(texts)}
    for start in range(0, len(texts), _TEXTS):
        written.write(
            f"texts-{start // _TEXTS}", [text for _, text in texts[start : start + _TEXTS]]
        )
    lines: list[Any] = []
    for key in numbers:
        row = stored.get(key)  # a call that was pruned from the cache has none
        sent = [
            (m.get("role", ""), _content(m.get("content"), indexes)) for m in messages.get(key, ())
        ]
        lines.append((key, *row[1:4], sent, *row[5:]) if row else (key,))
    for start in range(0, len(lines), _CALLS):
        written.write(f"calls-{start // _CALLS}", lines[start : start + _CALLS])


def _content(content: Any, indexes: Mapping[int, int]) -> list[int | str]:
    """A message as a list of its own texts and the indexes of shared parts."""
    if isinstance(content, list):
        return [indexes[part] if isinstance(part, int) else part for part in content]
    return [orjson.dumps((content or {}).get("json")).decode()]
