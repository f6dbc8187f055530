"""What a step may reach: the models, the databases and the prompts. Nothing else is global."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.db.catalog import describe
from workbench.db.execute import Executor
from workbench.db.schema import read_schema, with_examples
from workbench.llm.client import Client
from workbench.prompts.prompt import load
from workbench.types import Execution, Question, Request, Schema


@dataclass(frozen=True, slots=True)
class Lab:
    """The client and the executor share a lab book; `database` tells where a db_id's file lies.

    A prompt that `prompts`, a folder of the user's own, holds under its name replaces ours. `system`
    names in the lab book on whose behalf calls are made; `watch` is told every request that is made, and
    the data that its prompt was rendered from.
    """

    client: Client
    executor: Executor
    database: Callable[[str], Path]
    prompts: Path | None = None
    system: str = ""
    watch: Callable[[Request, Mapping[str, Any]], object] | None = None

    def request(
        self,
        prompt: str,
        model: str,
        question: Question,
        parameters: Mapping[str, Any],
        sample: int = 0,
        /,
        **data: Any,
    ) -> Request:
        """A call of the prompt named VERB/METHOD, rendered with the data."""
        messages = load(prompt, self.prompts).messages(**data)
        request = Request(prompt, model, messages, parameters, sample, question.id, self.system)
        if self.watch:
            self.watch(request, data)
        return request

    def schema(self, db_id: str) -> Schema:
        """The database as prompts show it: with its catalog's descriptions and example values."""
        path = self.database(db_id)
        files = [path, path.with_name(f"{path.name}-wal")]
        return _schema(path, tuple(f.stat().st_mtime_ns for f in files if f.exists()))

    def run(self, question: Question, sql: str) -> Execution:
        """What the question's database answers to a query."""
        return self.executor.execute(self.database(question.db_id), sql)


@lru_cache(maxsize=64)
def _schema(path: Path, changed: tuple[int, ...]) -> Schema:
    """Read once; a file that has changed since is read again."""
    del changed
    schema = with_examples(read_schema(path), path)
    folder = path.parent / "database_description"
    return describe(schema, folder) if folder.is_dir() else schema
