"""Pools from other systems' prediction files.

A prediction is paired with its question by id, if the file has ids. If it has only positions, each pair is confirmed
by the database or question that the file states or, for bare lines of SQL, by the tables that the SQL names. A file
with a prediction that does not fit its question is refused; the error names the first such line.
"""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.predictions.formats import read_predictions
from workbench.benchmarks.predictions.prediction import Prediction
from workbench.errors import BadInputError, MisalignedError
from workbench.html.tree import visible
from workbench.pool import Pool, pool_of
from workbench.sql.schema import read_schema
from workbench.types import Candidate, Question, Trial, lower_name

_TABLES = re.compile(r"\b(?:from|join)\s+[\"`\[]?(\w+)", re.IGNORECASE)
ANSWERS = ".answers.jsonl"
"""The end of the name of a file with the answers of a run."""
_TABLES_OF_RUN = (".csv", "_questions.csv", ".preview.json")
_SUFFIXES = {".json", ".jsonl", ".sql", ".txt", ".csv"}


def prediction_files(names: Sequence[str]) -> list[Path]:
    """The prediction files at these paths; a folder stands for the prediction files in it.

    The tables that `workbench run` writes beside its answers are left out.
    """
    found: list[Path] = []
    for path in map(Path, names):
        if path.is_dir():
            runs = [file.name.removesuffix(ANSWERS) for file in path.glob(f"*{ANSWERS}")]
            tables = {run + table for run in runs for table in _TABLES_OF_RUN}
            tables |= {"index.json"} if runs else set()
            files = (p for p in path.iterdir() if p.suffix in _SUFFIXES)
            inside = sorted(p for p in files if p.name not in tables)
            if not inside:
                raise BadInputError(
                    f"{path}: no .json, .jsonl, .sql, .txt or .csv file in this folder"
                )
            found += inside
        else:
            found.append(path)
    return found


def file_names(paths: Sequence[Path]) -> dict[Path, str]:
    """A short name for each file, made longer if two files would share it."""
    seen: set[str] = set()
    for path in paths:
        real = os.path.realpath(path)  # a Path's `resolve` raises for a link to itself
        if real in seen:
            raise BadInputError(f"{path}: given twice; give each prediction file once")
        seen.add(real)
    stems = [path.stem for path in paths]
    names = {path: path.stem if stems.count(path.stem) == 1 else str(path) for path in paths}
    return {path: visible(name) for path, name in names.items()}


def load_pool(names: Mapping[Path, str], benchmark: Benchmark) -> Pool:
    """The predictions of several files as one pool."""
    pools = load_pools(names, benchmark).values()
    return pool_of(pair for pool in pools for pair in pool.items())


def load_pools(names: Mapping[Path, str], benchmark: Benchmark) -> dict[Path, Pool]:
    """The predictions of each file. Their generator is the one that the file states, or else the file's given name.

    A generator that several files state gets the file's name in front of its own.
    """
    pools = {path: load_predictions(path, benchmark, name) for path, name in names.items()}
    stated = Counter(generator for pool in pools.values() for generator in pool.generators())
    twice = {generator for generator, count in stated.items() if count > 1}
    return {path: _renamed(pool, twice, names[path]) for path, pool in pools.items()}


def load_predictions(path: Path, benchmark: Benchmark, generator: str = "") -> Pool:
    """The predictions of a file as trials that have not run.

    The generator of a prediction is its field `generator`, which `Pool.save` writes, else the one given, else
    the name of the file. Questions without a prediction are missing from the pool. Lines of SQL must answer
    all questions; an empty line is an empty answer. MisalignedError names the first line that does not fit
    its question.
    """
    predictions = read_predictions(path, benchmark)
    questions = _pair(path, predictions, benchmark)
    seen: dict[tuple[str, str, int], str] = {}
    for question, prediction in zip(questions, predictions, strict=True):
        key = (question.id, prediction.generator or "", prediction.sample)
        if key in seen:
            raise MisalignedError(
                f"{path}, {prediction.line}: question {question.id} is answered there and in {seen[key]};"
                " give each answer a number of its own in a field 'sample'"
            )
        seen[key] = prediction.line
    name = generator or path.stem
    return pool_of(
        (question.id, Trial(Candidate(one.sql, one.generator or name, one.sample)))
        for question, one in zip(questions, predictions, strict=True)
    )


def _renamed(pool: Pool, generators: Collection[str], prefix: str) -> Pool:
    def named(candidate: Candidate) -> Candidate:
        if candidate.generator not in generators:
            return candidate
        return replace(candidate, generator=f"{prefix}: {candidate.generator}")

    return pool_of((key, replace(t, candidate=named(t.candidate))) for key, t in pool.items())


def _pair(path: Path, predictions: list[Prediction], benchmark: Benchmark) -> list[Question]:
    """The question of each prediction; an error if the file states something else about a question."""
    every = benchmark.every or benchmark.questions
    counted = predictions[0].counted
    if counted and len(predictions) == len(benchmark.questions):
        every = benchmark.questions
    wanted = len(every)
    questions = (
        list(every[: len(predictions)])
        if counted
        else _stated(path, predictions, every, benchmark.name)
    )
    wrong_number = (
        f"{len(predictions)} lines for the {wanted} questions of {benchmark.name}; without ids there must"
        " be one for each"
    )
    fits = not counted or len(predictions) == wanted
    if misfit := next(_misfits(predictions, questions, every, benchmark), None):
        raise MisalignedError(f"{path}, {misfit}{'' if fits else '; ' + wrong_number}")
    if not fits:
        raise MisalignedError(f"{path}: {wrong_number}")
    return questions


def _stated(
    path: Path, predictions: list[Prediction], every: Sequence[Question], name: str
) -> list[Question]:
    """Questions by id if every id is known, else by position, which another field must confirm."""
    by_id = {question.id: question for question in every}
    by_index = dict(enumerate(every))
    unknown = next((p for p in predictions if p.id is not None and p.id not in by_id), None)
    if unknown and {p.index for p in predictions} != set(by_index):
        raise MisalignedError(
            f"{path}, {unknown.line}: {name} has no question {unknown.id!r}, and the keys are not"
            f" the positions 0 to {len(by_index) - 1} of its questions either"
        )
    questions = []
    for prediction in predictions:
        if prediction.id is not None and not unknown:
            questions.append(by_id[prediction.id])
        elif prediction.index not in by_index:
            raise MisalignedError(
                f"{path}, {prediction.line}: index {prediction.index}, but {name} has the"
                f" questions 0 to {len(by_index) - 1}"
            )
        elif prediction.db_id is None and prediction.text is None:
            raise MisalignedError(
                f"{path}, {prediction.line}: given by its position, with no db_id or question to confirm"
                " it; use question ids"
            )
        else:
            questions.append(by_index[prediction.index])
    return questions


def _misfits(
    predictions: list[Prediction],
    questions: list[Question],
    every: Sequence[Question],
    benchmark: Benchmark,
) -> Iterator[str]:
    """The lines that do not fit their question, each with the reason."""
    tables: dict[str, set[str]] = {}

    def tables_of(question: Question) -> set[str]:
        if not benchmark.has(question.db_id):
            return set()
        if question.db_id not in tables:
            schema = read_schema(benchmark.database(question.db_id))
            tables[question.db_id] = {lower_name(table.name) for table in schema.tables}
        return tables[question.db_id]

    for index, (prediction, question) in enumerate(zip(predictions, questions, strict=False)):
        line, here = prediction.line, f"question {question.id} of {benchmark.name}"
        if prediction.db_id not in {None, question.db_id}:
            yield f"{line}: database {prediction.db_id!r}, but {here} has {question.db_id!r}"
        elif prediction.text not in {None, question.text.strip()}:
            yield f"{line}: question {prediction.text!r}, but {here} is {question.text!r}"
        elif prediction.counted and prediction.db_id is None:
            # Bare SQL is misaligned if it names no table of its question's database, and only tables of a neighbour's.
            named = {lower_name(name) for name in _TABLES.findall(prediction.sql)}
            if named and (own := tables_of(question)) and not named & own:
                for other in every[max(index - 1, 0) : index + 2]:
                    if named <= tables_of(other):
                        yield f"{line}: names tables of {other.db_id}, but {here} has {question.db_id!r}"
