"""The prompt explorer: a question's calls, to be edited, priced, run, and kept as variants."""

import itertools
import sys
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from workbench.errors import BadInputError
from workbench.evaluate.ex import ex_verdicts
from workbench.explorer.compare import (
    Comparison,
    Grid,
    answer,
    missing_calls,
    prompt_changes,
    summary,
    unused,
    with_prompts,
)
from workbench.explorer.recording import (
    Call,
    Edit,
    asked_prompts,
    cost,
    edited,
    record,
    sql_in,
    template,
)
from workbench.explorer.variants import (
    Column,
    Edits,
    Variant,
    VariantStore,
    write_folder,
)
from workbench.llm.calls import runs_here
from workbench.prompts import BadTemplateError, Prompt, sections
from workbench.replies import answer as without_thought
from workbench.study.run import Run, run_tables
from workbench.study.solve import cached_records, keys_of, model_names
from workbench.study.study import Study
from workbench.systems.system import System
from workbench.types import Completion, Trial
from workbench.widgets import differing, many, pair, result, shown

T = TypeVar("T")
COUNTS = (20, 50, 200)  # questions on which variants run, one press after another
_LONG = 200_000  # characters of a part of a prompt that are sent


def explore(study: Study, *systems: System | Run) -> "Explorer":
    """Show what systems send for a question, and compare what becomes of edited prompts.

    What is cached costs nothing, and the buttons say what the rest costs. Edits and variants are
    kept in the workbench's home, and are there again when the cell runs again.
    """
    if not systems:
        raise BadInputError(
            "no system is given: name one, as in wb.explore(study, wb.direct())"
        )
    return Explorer(study, systems)


class Explorer(Grid):
    """`rows` has the questions, `detail` the chosen one with its calls, `grid` the comparison."""

    def __init__(self, study: Study, systems: Sequence[System | Run]) -> None:
        self.study = study
        self.store = VariantStore.of(study.benchmark.name)
        self._systems: dict[str, System] = {}
        for each in systems:
            name = unused(each.name, self._systems)
            self._systems[name] = each.system if isinstance(each, Run) else each
        self._questions = {
            question.id: question for question in study.benchmark.questions
        }
        self._columns: dict[str, Column] = {}  # of the comparison
        # Of the call that is shown: the next question opens at the same one.
        self._prompt = ""
        super().__init__()
        for variant in self.store.variants():
            if variant.system in self._systems:
                try:
                    self._add_column(variant)
                # A prompt or a step that the system has no more.
                except BadInputError as error:
                    told = f"variant {variant.name} is left out: {error}"
                    print(told, file=sys.stderr)
        self._draw_grid()
        self.do_list(next(iter(self._systems)))

    def do_list(self, system: str) -> None:
        """List the questions with what is known of a system's answers, and show one."""
        self.system_name = system
        self.system = self.study.with_settings(self._systems[system])
        outcomes, golds = self._cached_outcomes(), self.study.benchmark.golds
        rows = []
        for key, question in self._questions.items():
            row = {
                "id": key,
                "db": shown(question.db_id),
                "difficulty": shown(golds[key].difficulty),
                "question": shown(question.text, 600),
                "status": outcomes.get(key, "none"),
            }
            rows.append(row)
        self.rows = rows
        models = model_names(self.system) | {*self.study.models.values()}
        self.setup = {
            "systems": [*self._systems],
            "system": system,
            "benchmark": self.study.benchmark.name,
            "models": sorted(models | {self.study.model}),
            "draft": self.store.draft(system),
        }
        self.do_choose(next(iter(self._questions)))

    def do_choose(self, key: str, *, pay: bool = False) -> None:
        """Show a question; with `pay`, make the calls that are missing."""
        question, lab = self._questions[key], self.study.lab
        self._recorded = recording = record(self.system, question, lab, pay=pay)
        sql = recording.selection.sql if recording.selection else ""
        self._verdicts: dict[str, str] = {}
        self._judge({sql, *recording.queries.values()})
        system_answer = self._answer(sql, is_expected=bool(recording.selection))
        gold = self.study.benchmark.golds[key]
        self.detail = {
            "id": key,
            "db": shown(question.db_id),
            "difficulty": shown(gold.difficulty),
            "question": shown(question.text, 4_000),
            "hint": shown(question.evidence, 4_000),
            "gold": shown(gold.sql, 20_000),
            "goldResult": result(lab.run(question, gold.sql)),
            "answer": system_answer,
            "steps": self._steps(),
            "calls": self._calls(),
            "retrieved": self._retrieved(),
            "pool": self._pool(),
            "call": self._shown_call(self._first_call()) if recording.calls else None,
        }

    def do_call(self, key: str, n: int) -> dict[str, Any]:
        """A call with its template, the data that it shows, and its cached reply."""
        self._prompt = self._call(key, n).request.prompt
        return self._shown_call(n)

    def do_render(self, key: str, n: int, edit: Edit) -> dict[str, Any]:
        """The prompt as an edit makes it, its price, and that of the edit on more questions.

        A template that cannot be read is answered with its `fault` and the line of it.
        """
        call = self._call(key, n)
        try:
            changed_call = edited(call, self._template(call), edit)
        except BadTemplateError as error:
            return {"fault": str(error), "line": error.line}
        # The edit makes anew all calls of its prompt, and what follows from them.
        prompts = [each.request.prompt for each in self._recorded.calls]
        changed_calls = []
        for each in self._recorded.calls[prompts.index(call.request.prompt) :]:
            is_edited = each.request.prompt == call.request.prompt
            changed_calls.append(changed_call if is_edited else each)
        count = self._first_count()
        parts = []
        for role, title, body in changed_call.parts:
            tokens = round(len(body) * call.rate)
            parts.append([role, shown(title), shown(body, _LONG), tokens])
        return {
            "parts": parts,
            "model": changed_call.request.model,
            "tokens": round(len(changed_call.text) * call.rate),
            "price": cost(self.study.lab.client, [changed_call]),
            "count": count,
            "many": cost(self.study.lab.client, changed_calls, count),
        }

    def do_run(self, key: str, n: int, edit: Edit) -> dict[str, Any]:
        """Ask an edited call: its reply, query, result and verdict, and the verdict before."""
        call, client = self._call(key, n), self.study.lab.client
        before = self._replied(call)
        changed_call = edited(call, self._template(call), edit)
        reply = client.complete(changed_call.request)
        if reply.fault:
            raise BadInputError(
                f"{changed_call.request.model} did not answer: {reply.error}"
            )
        # A reply without a query, such as an agent's look at the data, has none after an edit.
        had_none = before["cached"] and not before["sql"]
        sql = sql_in(reply.text) if call.has_query and not had_none else ""
        self._judge([sql])
        edited_answer = self._answer(sql, is_expected=bool(before["sql"]))
        return {
            **edited_answer,
            **_reply(reply),
            **self._beside(before["sql"], sql),
            "was": before["status"],
            "paid": _paid(changed_call.request.model, reply),
        }

    def _beside(self, before: str, sql: str) -> dict[str, Any]:
        """The query of an edited call part by part beside the one before the edit."""
        if not before or not sql:
            return {"pairBefore": [], "differingBefore": None}
        question, lab = self._recorded.question, self.study.lab
        rows = pair(before, sql, lab.schema(question.db_id))
        results = lab.run_many(question, [sql, before])
        return {"pairBefore": rows, "differingBefore": differing(*results)}

    def do_draft(self, edits: Edits) -> None:
        """Keep the page's edits, so that they are there after a restart of the kernel."""
        self.store.write_draft(self.system_name, edits)
        self.setup = {**self.setup, "draft": edits}  # for a page that is opened later

    def do_keep(self, edits: Edits, name: str = "") -> str:
        """Keep edits, by their prompts' names, as a variant of the system; return its name."""
        taken = {variant.name for variant in self.store.variants()}
        taken |= self._columns.keys()
        free = (f"v{number}" for number in itertools.count(1))
        name = name or next(name for name in free if name not in taken)
        self._check_free(name)
        variant = Variant(name, self.system_name, edits)
        # A fault of the edits is said before they are kept.
        variant.built(self._systems[self.system_name], self.study.lab)
        self.store.keep(variant)
        self._add_column(variant)
        return name

    def do_rename(self, name: str, to: str) -> None:
        self._check_free(to)
        self.store.rename(name, to)

        self._columns = _renamed(self._columns, name, to)
        if self.comparison:
            runs = _renamed(self.comparison.runs, name, to)
            folders = self._folders()
            self.comparison = replace(self.comparison, runs=runs, prompts=folders)
        self._draw_grid()

    def do_remove(self, name: str) -> None:
        self.store.remove(name)
        self._columns.pop(name, None)
        if not self._kept():  # the next comparison begins with all systems again
            self._columns = {}
        if self.comparison:
            runs = {**self.comparison.runs}
            runs.pop(name, None)
            self.comparison = replace(self.comparison, runs=runs)
        self._draw_grid()

    def do_reopen(self, name: str) -> Edits:
        """Show the variant's edits in its system's prompts, to go on from there."""
        variant = self.store.variant(name)
        self.store.write_draft(variant.system, variant.edits)
        self.do_list(variant.system)
        return variant.edits

    def do_compare(self, count: int = COUNTS[0], add: str = "") -> None:
        """Run the columns on `count` questions, evenly spread; `add` a system, at first all."""
        self._columns = self._next_columns()
        if add:
            self._columns[add] = Column(self._systems[add])
        few = self.study.sample(min(count, len(self._questions)))
        runs = {}
        for name, column in self._columns.items():
            its_study = with_prompts(few, column.prompts)
            runs[name] = its_study.run(column.system, name)
        self.comparison = Comparison(few, runs, self._folders())
        self._draw_grid()

    def do_price(self) -> str:
        """The price of the first comparison: at least that of the calls that are known."""
        study = self.study.sample(self._first_count())
        calls: list[Call] = []
        for column in self._next_columns().values():
            its_study = with_prompts(study, column.prompts)
            for missing in missing_calls(its_study, column.system):
                calls += missing
        price = cost(study.lab.client, calls)
        return f"from {price}" if price.startswith("$") else price

    def do_save(self, name: str, variant: str = "") -> str:
        """Save one variant or all in the home, each as an experiment with its folder of prompts."""
        columns = self._kept()
        if variant:
            columns = {variant: self._columns[variant]}
        notes = {}
        for title in columns:
            notes[title] = summary(self.changes(title))
        folder = write_folder(name, columns, notes, self.study)
        return f"{folder}: {', '.join(columns)}"

    def _kept(self) -> dict[str, Column]:
        """The columns that are variants."""
        return {name: each for name, each in self._columns.items() if each.base}

    def _first_count(self) -> int:
        return min(COUNTS[0], len(self._questions))

    def _next_columns(self) -> dict[str, Column]:
        """The columns of the next comparison: at first all systems."""
        return self._columns or {
            name: Column(each) for name, each in self._systems.items()
        }

    def _check_free(self, name: str) -> None:
        if name in self._columns or name in self._systems:
            raise BadInputError(
                f"there is a column {name!r} already: give another name"
            )

    def _add_column(self, variant: Variant) -> None:
        system = self._systems[variant.system]
        column = variant.built(system, self.study.lab)
        self._columns.setdefault(variant.system, Column(system))
        self._columns[variant.name] = column

    def changes(self, name: str) -> list[dict[str, str]]:
        """What a variant changes in its system, and another column in the first one."""
        column = self._columns.get(name)
        if not column or not column.base:
            return super().changes(name)
        before = asked_prompts(self._systems[column.base], self.study.lab.prompts)
        return prompt_changes(before, asked_prompts(column.system, column.prompts))

    def _folders(self) -> dict[str, Any]:
        folders = {}
        for name, column in self._columns.items():
            if column.prompts:
                folders[name] = column.prompts
        return folders

    def _draw_grid(self) -> None:
        """Show the comparison, if there is one, and the variants that are kept."""
        kept = []
        for name, column in self._kept().items():
            texts = (name, column.base, summary(self.changes(name)))
            kept.append([shown(text) for text in texts])
        if not self.comparison:
            self.grid = {"rows": [], "kept": kept, "more": self._first_count()}
            return
        asked = len(self.comparison.study.benchmark.questions)
        most = len(self._questions)
        more = next((count for count in (*COUNTS, most) if asked < count <= most), 0)
        self.grid = self.comparison.grid() | {
            "more": more,
            "price": self.comparison.price(more) if more else "",
            "add": [name for name in self._systems if name not in self._columns],
            "kept": kept,
        }

    def _call(self, key: str, n: int) -> Call:
        if key != self._recorded.question.id or n >= len(self._recorded.calls):
            raise BadInputError("another question is shown by now")
        return self._recorded.calls[n]

    def _first_call(self) -> int:
        """The call to open: of the prompt that was shown last, or else of a generator."""
        calls = self._recorded.calls
        prompts = [call.request.prompt for call in calls]
        if self._prompt in prompts:
            return prompts.index(self._prompt)
        verbs = [call.verb for call in calls]
        return verbs.index("generate") if "generate" in verbs else 0

    def _shown_call(self, n: int) -> dict[str, Any]:
        call = self._recorded.calls[n]
        prompt = self._template(call)
        variables = []
        for name, value in call.data.items():
            is_shown = name in prompt.variables
            variables.append([shown(name), shown(str(value), _LONG), is_shown])
        return self._replied(call) | {
            "n": n,
            "prompt": shown(call.request.prompt),
            "model": shown(call.request.model),
            "temperature": call.request.parameters.get("temperature"),
            "rate": call.rate,
            "source": prompt.source,
            "data": variables,
            "turns": self._turns(call),
        }

    def _turns(self, call: Call) -> list[dict[str, Any]]:
        """The conversation of which a call is a turn: each reply, its query, and what was shown."""
        numbers: dict[str, int] = {}  # of the calls, by their replies
        messages: list[tuple[str, str]] = []
        for n in self._recorded.conversation(call):
            turn = self._recorded.calls[n]
            if turn.reply:
                numbers[without_thought(turn.reply.text)] = n
                before = turn.messages[len(call.opening) :]
                messages = [*before, ("Assistant", turn.reply.text)]
        turns: list[dict[str, Any]] = []
        if len(messages) < 2:  # a single call
            return turns
        for role, text in messages:
            if role == "Assistant":
                said = {
                    "n": numbers.get(without_thought(text)),
                    "said": shown(text.partition("```")[0].strip(), 4_000),
                    "sql": shown(sql_in(text), 20_000),
                    "seen": "",
                }
                turns.append(said)
            else:
                seen = dict(sections(text)).get("Result", text)
                turns[-1]["seen"] = shown(seen, _LONG)
        return turns

    def _template(self, call: Call) -> Prompt:
        return template(self.system, call.request.prompt, self.study.lab)

    def _replied(self, call: Call) -> dict[str, Any]:
        """A call's reply, the query in it with its result, and the verdict."""
        query = self._query(call)
        return self._answer(query) | _reply(call.reply)

    def _query(self, call: Call) -> str:
        if not call.reply:
            return ""
        return self._recorded.queries.get(call.reply.key, "")

    def _answer(self, sql: str, *, is_expected: bool = False) -> dict[str, Any]:
        """A query beside gold with its result and verdict; one that is missing may be wrong."""
        question = self._recorded.question
        gold = self.study.benchmark.golds[question.id].sql
        shown_answer = answer(self.study.lab, question, gold, sql)
        status = self._verdicts[sql]
        if is_expected and not sql:
            status = "wrong"
        return shown_answer | {"status": status}

    def _judge(self, queries: Collection[str]) -> None:
        self._verdicts[""] = "none"
        lab, key = self.study.lab, self._recorded.question.id
        pairs = [(key, sql) for sql in queries if sql]
        verdicts = ex_verdicts(self.study.benchmark, pairs, lab.executor, lab.limits)
        for (_, sql), right in zip(pairs, verdicts, strict=True):
            self._verdicts[sql] = "right" if right else "wrong"

    def _steps(self) -> list[dict[str, Any]]:
        """The system's steps with their calls, and the price of those that are missing."""
        steps, reached = [], True
        for verb in ("retrieve", "prune", "generate", "fix", "select"):
            calls = [call for call in self._recorded.calls if call.verb == verb]
            missing = [call for call in self._recorded.missing if call.verb == verb]
            if calls or getattr(self.system, verb):
                step = {
                    "name": verb,
                    "calls": len(calls),
                    "missing": len(missing),
                    "price": cost(self.study.lab.client, missing) if missing else "",
                    "reached": reached,
                }
                steps.append(step)
            reached = reached and not missing
        return steps

    def _calls(self) -> list[list[str]]:
        """Prompt, label and status of each call."""
        calls = self._recorded.calls
        numbers_of = defaultdict[str, list[int]](list)
        for number, call in enumerate(calls):
            numbers_of[call.request.prompt].append(number)
        labels: dict[int, str] = {}
        for numbers in numbers_of.values():
            names = _labels([calls[number] for number in numbers])
            labels.update(zip(numbers, names, strict=True))
        rows = []
        for number, call in enumerate(calls):
            sql = self._query(call)
            status = "done" if call.reply and not sql else self._verdicts[sql]
            prompt = shown(call.request.prompt)
            rows.append([prompt, shown(labels[number], 80), status])
        return rows

    def _retrieved(self) -> dict[str, Any]:
        """The values that retrieval found, and the columns that pruning kept of each table."""
        contexts = self._recorded.contexts
        matches = contexts[0].values if contexts else ()
        values = [
            shown(f"{each.table}.{each.column}: {each.value}") for each in matches
        ]
        tables = []
        if len(contexts) > 1:
            kept = set(contexts[-1].schema.columns())
            for table in contexts[0].schema.tables:
                columns = []
                for column in table.columns:
                    is_kept = (table.name, column.name) in kept
                    columns.append([shown(column.name), is_kept])
                tables.append([shown(table.name), columns])
        return {"values": values, "kept": tables}

    def _pool(self) -> list[dict[str, Any]]:
        """The candidates by result, the largest group first; those without a result last."""
        selection = self._recorded.selection
        if not selection:
            return []
        groups = defaultdict[str, list[Trial]](list)
        for trial in selection.trials:
            groups[trial.execution.fingerprint if trial.execution else ""].append(trial)
        pool = []
        for fingerprint, trials in groups.items():
            queries = dict.fromkeys(trial.candidate.sql for trial in trials)
            ran = trials[0].execution
            group = {
                "size": len(trials),
                "status": self._verdicts[trials[0].candidate.sql],
                "rows": many(ran.row_count, "row") if ran and fingerprint else None,
                "chosen": any(trial is selection.trial for trial in trials),
                "queries": [shown(sql or "no SQL", 4_000) for sql in queries],
            }
            pool.append(group)
        return sorted(pool, key=lambda group: (not group["rows"], -group["size"]))

    def _cached_outcomes(self) -> dict[str, str]:
        """Right, lost (a right candidate was there) or wrong, of the questions that are cached."""
        study, questions = self.study, self.study.benchmark.questions
        keys = keys_of(self.system, questions, study.lab)
        records = cached_records(study.lab.client.cache, keys)
        solved = study.benchmark.of([each for each in questions if each.id in records])
        if not solved.questions:
            return {}
        _, table = run_tables(solved, records, study.lab.executor)
        outcomes = {}
        for row in table.to_dict("records"):
            outcome = "wrong"
            if row["correct"]:
                outcome = "right"
            elif row["oracle"]:
                outcome = "lost"
            outcomes[row["question_id"]] = outcome
        return outcomes


def _renamed(columns: Mapping[str, T], name: str, to: str) -> dict[str, T]:
    """The columns in their order, one under another name."""
    renamed = {}
    for key, column in columns.items():
        renamed[to if key == name else key] = column
    return renamed


def _paid(model: str, reply: Completion) -> str:
    if runs_here(model):
        return ""
    if reply.cached:
        return "cached"
    return "" if reply.cost is None else f"${reply.cost:.4f}"


def _reply(reply: Completion | None) -> dict[str, Any]:
    return {
        "cached": reply is not None,
        "reply": shown(reply.text, _LONG) if reply else "",
        "replyTokens": reply.output_tokens if reply else 0,
    }


def _labels(calls: Sequence[Call]) -> list[str]:
    """A name for each call of one prompt: a first line that differs in all, else its number."""
    if len(calls) > 1 and not any(call.request.sample for call in calls):
        for name in calls[0].data:
            texts = []
            for call in calls:
                first_line = str(call.data.get(name)).partition("\n")[0]
                texts.append(first_line.rpartition(": ")[2])
            if len(set(texts)) == len(calls):
                return texts
    return [str(number) for number in range(1, len(calls) + 1)]
