"""The cache of verdicts, so that judging the same files again runs and parses no query.

A key hashes everything that a verdict depends on: the database, the query and its gold query, Spider's schema, the
options and the code that judges. If a file is added to an evaluation, only its new queries are judged.

Verdicts on transient failures, such as a locked database, are not cached.
"""

from collections.abc import Collection, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from workbench.benchmarks.benchmark import Benchmark
from workbench.canonical import canonical, content_hash, folder_hash
from workbench.sql.executor import Executor
from workbench.types import Limits, Question

Record = dict[str, Any]
Judged = tuple[str, str | None]  # a question's id and a query, None without an answer
_PACKAGE = Path(__file__).parents[1]


class VerdictCache:
    """The cached verdicts on one benchmark's questions, in the executor's cache."""

    def __init__(
        self, benchmark: Benchmark, executor: Executor, limits: Limits, *, keep_distinct: bool
    ) -> None:
        self._benchmark = benchmark
        self._executor = executor
        self._store = executor.store
        self._options = (limits, keep_distinct)
        databases = dict.fromkeys(question.db_id for question in benchmark.questions)
        self._paths = {db_id: benchmark.database(db_id) for db_id in databases}
        self._contents = executor.fingerprints(self._paths.values()) if self._store else {}
        self._schemas = {
            db_id: content_hash("schema", repr(benchmark.schemas.get(db_id)))
            for db_id in self._paths
        }

    def read(self, asked: Mapping[str, Collection[str | None]]) -> dict[Judged, Record]:
        """The cached verdicts on queries by question id."""
        if not self._store:
            return {}
        keys: dict[str, Judged] = {}
        for question in self._benchmark.questions:
            sqls = asked.get(question.id, ())
            for key, sql in zip(self._keys(question, sqls), sqls, strict=True):
                keys[key] = (question.id, sql)
        rows = self._store.read_keys("SELECT key, record FROM verdicts WHERE key IN", list(keys))
        return {keys[key]: orjson.loads(record) for key, record in rows}

    def write(self, question: Question, verdicts: Mapping[str | None, Record]) -> None:
        """Cache the verdicts on queries for a question."""
        path = self._paths[question.db_id]
        if not self._store or not self._executor.caches or not verdicts:
            return
        if self._executor.fingerprints([path])[path] != self._contents[path]:
            return  # the database has changed, so some verdicts may be about its new content
        records = [canonical(record).decode() for record in verdicts.values()]
        rows = zip(self._keys(question, verdicts), records, strict=True)
        with self._store.write(durable=False) as connection:
            connection.executemany("INSERT OR IGNORE INTO verdicts VALUES (?, ?)", rows)

    def _keys(self, question: Question, sqls: Collection[str | None]) -> list[str]:
        gold = self._benchmark.golds[question.id]
        content = self._contents[self._paths[question.db_id]]
        schema = self._schemas[question.db_id]
        common = [_code(), content, schema, gold.sql, gold.difficulty, *self._options]
        start = sha256(canonical(common))
        keys = []
        for sql in sqls:
            digest = start.copy()
            digest.update(canonical(sql) if sql is None else sql.encode(errors="surrogatepass"))
            keys.append(f"verdict:{digest.hexdigest()}")
        return keys


@cache
def _code() -> str:
    """A hash of the code that judges."""
    folders = [folder_hash(_PACKAGE / name) for name in ("db", "evaluate", "types")]
    record = (_PACKAGE / "benchmarks" / "benchmark.py").read_text()
    return content_hash("code", [*folders, record])
