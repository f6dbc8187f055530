"""The folder `report` beside report.html: questions, SQL, calls and prompts behind every number, without a network.

`index.html#NAME` shows a figure's data, `#NAME.3` row 3 of it, and `#call.7` a call. A browser does not let a page read
the files of a folder, but runs scripts from it, so each file is a script that passes gzipped JSON to the page. Parts of
prompts that calls share are written once, as in the cache.
"""

import base64
import gzip
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.named import open_again
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
_CALLS, _TEXTS = 400, 600  # in a file; a text is a part of a prompt
_FILTER_COLUMNS = ("question_ids", "question_id", "db_id", "difficulty", "generator", "other", "sample", "counted")  # fmt: skip
Answers = Sequence[QuestionCandidates]  # of one run
Writer = Callable[[str, Any], None]  # of a script, given its name and content


@dataclass(slots=True)
class Bundle:
    """The bundle as written: the rows of each figure and table, which of them lead to questions, and its size."""

    rows: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    linked: set[tuple[str, int]] = field(default_factory=set)
    runs: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The name and the composition of each run behind a number, by its id."""
    calls: int = 0
    size: int = 0


def write_bundle(
    folder: Path,
    pieces: Sequence[Piece],
    store: Store,
    root: Path | None = None,
    own: str = "",
) -> Bundle:
    """Write the folder anew; `root` is the folder of the unpacked benchmark, and `own` a user's own benchmark."""
    target = folder / FOLDER
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    write = partial(_write_script, target, secrets())
    bundle = Bundle()
    rows = {piece.name: data_rows(piece.data) for piece in pieces if piece.data.is_file()}
    bundle.rows = rows
    ids = {run for table in rows.values() for row in table for run in row.get("run", "").split()}
    stored = store.read_keys("SELECT id, name, system, benchmark FROM runs WHERE id IN", [*ids])
    by_run = {run: list(candidates_by_question(run, store)) for run, *_ in stored}
    bundle.runs = {run: (name, system) for run, name, system, _ in stored}
    call_numbers = _call_numbers(by_run.values())
    write("rows", _sets(bundle, pieces, by_run))
    with Executor(store) as executor:
        for number, name in enumerate(sorted({benchmark for *_, benchmark in stored})):
            runs = {run: by_run[run] for run, *_, own in stored if own == name}
            benchmark = _open_benchmark(name, root, own)
            verdicts = _verdicts(benchmark, runs.values(), executor) if benchmark else {}
            for run, questions in runs.items():
                header = {"name": bundle.runs[run][0], "questions": f"questions-{number}"}
                answers = [_question_record(one, call_numbers, verdicts) for one in questions]
                write(f"run-{run}", header | {"answers": answers})
            asked, golds = (benchmark.questions, benchmark.golds) if benchmark else ((), {})
            texts = {q.id: (q.text, q.evidence, golds[q.id].sql) for q in asked}
            write(f"questions-{number}", texts)
    _write_calls(write, call_numbers, store)
    (target / "viewer.js").write_bytes(_VIEWER.read_bytes())
    body = (element("div", id="shown"), Raw('<script src="viewer.js"></script>'))
    (target / "index.html").write_text(page("Behind a number", *body), encoding="utf-8")
    bundle.calls = len(call_numbers)
    bundle.size = sum(path.stat().st_size for path in target.iterdir())
    return bundle


def _write_script(folder: Path, known: list[str], name: str, content: Any) -> None:
    """Write a script of the folder without the known secrets."""
    text = orjson.dumps(without_secrets(known, orjson.loads(orjson.dumps(content))))
    packed = base64.b64encode(gzip.compress(text, 6, mtime=0)).decode()
    (folder / f"{name}.js").write_text(f'arrived("{name}", "{packed}")\n')


def _open_benchmark(name: str, root: Path | None, own: str) -> Benchmark | None:
    """The benchmark, or None if its files are not on this computer."""
    try:
        return open_again(name, root, own)
    except (BadInputError, OSError):
        return None


def _call_numbers(runs: Iterable[Answers]) -> dict[str, int]:
    """A number for the key of each call behind a candidate."""
    keys = {
        key
        for questions in runs
        for missing, trials in questions
        for candidate in (missing, *trials)
        for key in candidate.calls
    }
    return {key: number for number, key in enumerate(sorted(keys))}


def _sets(bundle: Bundle, pieces: Sequence[Piece], by_run: Mapping[str, Answers]) -> dict[str, Any]:
    """The rows of every figure and table, each with the questions and candidates that it counts.

    Rows that count the same answers share one entry of `sets`: (index of the question, indexes of its candidates).
    """
    sets: list[Any] = []
    set_numbers: dict[tuple[str, ...], int] = {}
    tables = {}
    for piece in pieces:
        row_records = []
        for number, row in enumerate(bundle.rows.get(piece.name, ())):
            counted = []
            for run in row.get("run", "").split():
                if run not in by_run:
                    continue
                key = (run, *(row.get(name, "\0") for name in _FILTER_COLUMNS))
                if key not in set_numbers:
                    set_numbers[key] = len(sets)
                    sets.append(_indexes(by_run[run], row))
                if sets[set_numbers[key]]:
                    counted.append((run, set_numbers[key]))
                    bundle.linked.add((piece.name, number))
            hidden = {"run", "question_ids", "counted"}
            cells = {name: value for name, value in row.items() if name not in hidden}
            row_records.append({"cells": cells, "sets": counted})
        tables[piece.name] = {"heading": piece.heading, "stamp": piece.stamp, "rows": row_records}
    return {"tables": tables, "sets": sets}


def _indexes(questions: Answers, row: Mapping[str, str]) -> list[tuple[int, list[int]]]:
    """The questions that a row counts and their counted candidates, by index; a question may have none."""
    counted = {id(candidate) for candidate in counted_candidates(questions, row)}
    found = []
    for number, (missing, trials) in enumerate(questions):
        indexes = [index for index, candidate in enumerate(trials) if id(candidate) in counted]
        if indexes or id(missing) in counted:
            found.append((number, indexes))
    return found


def _verdicts(
    benchmark: Benchmark, runs: Iterable[Answers], executor: Executor
) -> dict[tuple[str, str], bool]:
    """Whether each candidate is right, in the benchmark's sense of EX."""
    ids = {question.id for question in benchmark.questions}
    pairs = dict.fromkeys(
        (candidate.question_id, candidate.sql)
        for questions in runs
        for _, trials in questions
        for candidate in trials
        if candidate.question_id in ids
    )
    return dict(zip(pairs, ex_verdicts(benchmark, list(pairs), executor), strict=True))


def _question_record(
    question: QuestionCandidates,
    call_numbers: Mapping[str, int],
    verdicts: Mapping[tuple[str, str], bool],
) -> tuple[Any, ...]:
    """A question of a run with its candidates, which refer to their SQL by its index in a list."""
    missing, trials = question
    queries = list(dict.fromkeys(candidate.sql for candidate in trials))
    lines = [
        (one.generator, one.sample, queries.index(one.sql), one.status, one.chosen,
         [call_numbers[key] for key in one.calls])
        for one in trials
    ]  # fmt: skip
    right = [verdicts.get((missing.question_id, sql)) for sql in queries]
    header = (missing.question_id, missing.db_id, missing.difficulty)
    return (*header, queries, right, lines, [call_numbers[key] for key in missing.calls])


def _write_calls(write: Writer, numbers: Mapping[str, int], store: Store) -> None:
    """Write the calls and the parts of their prompts; sorted parts compress better, since neighbours are alike."""
    columns = "key, prompt, model, parameters, messages, text, finish_reason, input_tokens, output_tokens, cost"
    stored = {
        row[0]: row
        for row in store.read_keys(f"SELECT {columns} FROM calls WHERE key IN", sorted(numbers))
    }
    messages = {key: orjson.loads(row[4]) for key, row in stored.items()}
    ids = {part for contents in messages.values() for part in part_ids(contents)}
    texts = sorted(
        store.read_keys("SELECT id, text FROM texts WHERE id IN", sorted(ids)),
        key=lambda row: str(row[1]),
    )
    indexes = {number: index for index, (number, _) in enumerate(texts)}
    for start in range(0, len(texts), _TEXTS):
        part = [text for _, text in texts[start : start + _TEXTS]]
        write(f"texts-{start // _TEXTS}", part)
    lines: list[Any] = []
    for key in numbers:
        row = stored.get(key)  # a call that was pruned from the cache has none
        contents = [
            (m.get("role", ""), _parts(m.get("content"), indexes)) for m in messages.get(key, ())
        ]
        lines.append((key, *row[1:4], contents, *row[5:]) if row else (key,))
    for start in range(0, len(lines), _CALLS):
        write(f"calls-{start // _CALLS}", lines[start : start + _CALLS])


def _parts(content: Any, indexes: Mapping[int, int]) -> list[int | str]:
    """A message as a list of its own texts and the indexes of shared parts."""
    if isinstance(content, list):
        return [indexes[part] if isinstance(part, int) else part for part in content]
    return [orjson.dumps((content or {}).get("json")).decode()]
