"""The prompt explorer: a question's calls, to be edited, priced, run, and kept as variants."""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.errors import BadInputError
from workbench.evaluate.ex import ex_verdicts
from workbench.explorer.compare import (
    Comparison,
    Grid,
    beside_gold,
    missing_calls,
    prompt_changes,
    summary,
    system_of,
    unused,
    with_prompts,
)
from workbench.explorer.recording import (
    Call,
    Edit,
    asked_prompts,
    cost,
    cost_of_more,
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
    save_prompts,
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

COUNTS = (20, 50, 200)  # questions on which variants run, one press after another


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
        # As given; `self.system` is the one that is shown, with the study's settings.
        self._systems: dict[str, System] = {}
        for each in systems:
            name = unused(shown(each.name), self._systems)
            self._systems[name] = system_of(each, study)
        self._questions = {
            question.id: question for question in study.benchmark.questions
        }
        self._compared: list[str] = []  # the systems in the comparison
        # Variants that another program keeps from now on are not run here unasked.
        self._known = {variant.at for variant in self.store.variants()}
        # Of the call that is shown: the next question opens at the same one.
        self._prompt = ""
        super().__init__()
        self._read_variants()
        self._draw_grid()
        self.do_list(next(iter(self._systems)))

    def _read_variants(self) -> None:
        """Set the columns of the next comparison: systems, and the variants that are kept.

        Where there are variants, their systems are compared, and else all.
        """
        columns = {name: Column(self._systems[name]) for name in self._compared}
        for variant in self.store.variants():
            system = self._systems.get(variant.system)
            if system is None or variant.at not in self._known:
                continue
            try:
                column = variant.built(system, self.study.lab)
            # A prompt or a step that the system has no more.
            except BadInputError as error:
                print(f"variant {variant.name} is left out: {error}", file=sys.stderr)
                self._known.discard(variant.at)  # so this is told once
                continue
            columns.setdefault(variant.system, Column(system))
            columns[variant.name] = column
        if not columns:
            for name, system in self._systems.items():
                columns[name] = Column(system)
        self._columns = columns

    def do_list(self, system: str) -> None:
        """List the questions with what is known of a system's answers, and show one."""
        self.system_name = system
        self.system = self.study.with_settings(self._systems[system])
        outcomes = self._cached_outcomes()
        golds = self.study.benchmark.golds
        rows = []
        for key, question in self._questions.items():
            rows.append(
                {
                    "key": key,
                    "id": key,
                    "db": question.db_id,
                    "difficulty": golds[key].difficulty,
                    "question": question.text,
                    "status": outcomes.get(key, "none"),
                }
            )
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
        # By query; the parts of the page below read them.
        self._verdicts = self._judged({sql, *recording.queries.values()})
        is_answered = recording.selection is not None
        gold = self.study.benchmark.golds[key]
        self.detail = {
            "key": key,
            "id": key,
            "db": question.db_id,
            "difficulty": gold.difficulty,
            "question": question.text,
            "hint": question.evidence,
            "gold": gold.sql,
            "goldResult": result(lab.run(question, gold.sql)),
            "answer": self._answer(sql, missing_is_wrong=is_answered),
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
        # On each further question the edit makes all calls of its prompt anew, and those that
        # follow from them. The calls of the prompt are priced as if each were this one.
        prompts = [each.request.prompt for each in self._recorded.calls]
        calls_anew = []
        for each in self._recorded.calls[prompts.index(call.request.prompt) :]:
            is_edited = each.request.prompt == call.request.prompt
            calls_anew.append(changed_call if is_edited else each)
        count = self._first_count()
        parts = []
        for role, title, body in changed_call.parts:
            tokens = round(len(body) * call.rate)
            parts.append({"role": role, "title": title, "text": body, "tokens": tokens})
        return {
            "parts": parts,
            "model": changed_call.request.model,
            "tokens": round(len(changed_call.text) * call.rate),
            "price": cost(self.study.lab.client, [changed_call]),
            "count": count,
            "many": cost_of_more(self.study.lab.client, calls_anew, count),
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
        replied_without_query = before["cached"] and not before["sql"]
        sql = ""
        if call.has_query and not replied_without_query:
            sql = sql_in(reply.text)
        self._verdicts |= self._judged({sql})
        return {
            **self._answer(sql, missing_is_wrong=bool(before["sql"])),
            **_reply(reply),
            **self._beside(before["sql"], sql),
            "was": before["status"],
            "paid": _paid(changed_call.request.model, reply),
        }

    def _beside(self, before: str, sql: str) -> dict[str, Any]:
        """The query of an edited call beside the one before the edit.

        `pairBefore` has them part by part; `differingBefore` what only the edited call's result
        has, and what only the other one has.
        """
        if not before or not sql:
            return {"pairBefore": [], "differingBefore": None}
        question, lab = self._recorded.question, self.study.lab
        result_before, result_now = lab.run_many(question, [before, sql])
        return {
            "pairBefore": pair(before, sql, lab.schema(question.db_id)),
            "differingBefore": differing(result_now, result_before),
        }

    def do_draft(self, edits: Edits) -> None:
        """Keep the page's edits, so that they are there after a restart of the kernel."""
        self.store.write_draft(self.system_name, edits)
        self.setup = {**self.setup, "draft": edits}  # for a page that is opened later

    def do_keep(self, edits: Edits) -> str:
        """Keep edits, by their prompts' names, as a variant of the system; return its name."""
        taken = self._shown_names() | self.store.names()
        number = 1
        while f"v{number}" in taken:
            number += 1
        variant = Variant(f"v{number}", self.system_name, edits, time.time_ns())
        # A fault of the edits is said before they are kept.
        variant.built(self._systems[self.system_name], self.study.lab)
        self.store.keep(variant)
        self._known.add(variant.at)
        self._read_variants()
        self._draw_grid()
        return variant.name

    def do_rename(self, name: str, to: str) -> None:
        if to in self._shown_names() - {name}:
            raise BadInputError(f"there is a column {to!r}: give another name")
        self.store.rename(name, to)
        self._redraw(name, to)

    def do_remove(self, name: str) -> None:
        self.store.remove(name)
        self._redraw(name)

    def _shown_names(self) -> set[str]:
        """The names of systems and of the runs that are shown, which no new variant can have.

        A run is shown until the next comparison, also of a variant that was removed elsewhere.
        """
        runs = self.comparison.runs if self.comparison else {}
        return {*self._systems, *runs}

    def _redraw(self, name: str, to: str = "") -> None:
        """Show the run of a variant under its new name, or without one no more."""
        self._read_variants()
        if self.comparison:
            runs = {}
            for title, run in self.comparison.runs.items():
                runs[to if title == name else title] = run
            runs.pop("", None)
            self.comparison = replace(self.comparison, runs=runs)
        self._draw_grid()

    def do_reopen(self, name: str) -> dict[str, Any]:
        """Show the variant's edits in its system's prompts, to go on from there."""
        variant = self.store.variant(name)
        self.store.write_draft(variant.system, variant.edits)
        self.do_list(variant.system)
        return {"draft": variant.edits}

    def do_compare(self, count: int = COUNTS[0], add: str = "") -> None:
        """Run the columns on `count` questions, evenly spread; `add` a system to them."""
        compared = [name for name in self._columns if name in self._systems]
        self._compared = [*compared, add] if add else compared
        self._read_variants()
        few = self.study.sample(min(count, len(self._questions)))
        runs = {}
        for name, column in self._columns.items():
            runs[name] = with_prompts(few, column.prompts).run(column.system, name)
        self.comparison = Comparison(few, runs)
        self._draw_grid()

    def do_price(self) -> str:
        """The price of the first comparison: at least that of the calls that are known."""
        study = self.study.sample(self._first_count())
        calls: list[Call] = []
        for column in self._columns.values():
            its_study = with_prompts(study, column.prompts)
            for missing in missing_calls(its_study, column.system):
                calls += missing
        return cost(study.lab.client, calls, is_least=True)

    def do_save(self, name: str, variant: str = "") -> str:
        """Copy the prompts of a variant, or of all, into a folder of the home; say which.

        The answer names the models and temperatures, which are no part of such a folder.
        """
        saved = {}
        left = []
        for title, column in self._columns.items():
            if not column.prompts or variant not in {"", title}:
                continue
            for change in self._changes_in_base(column):
                if change["before"] != change["after"]:
                    saved[title] = column.prompts
                if change["fields"]:
                    left.append(f"{title}'s {change['fields']}")
        told = f"; not saved: {', '.join(left)}" if left else ""
        if not saved:
            raise BadInputError(f"no prompt is edited: there is nothing to save{told}")
        return f"{save_prompts(name, saved)}: {', '.join(saved)}{told}"

    def do_changes(self, name: str) -> list[dict[str, str]]:
        """The prompts that a variant changes in its system, and another column in the first one."""
        column = self._columns.get(name)
        if column and column.base:
            return self._changes_in_base(column)
        return super().do_changes(name)

    def _changes_in_base(self, column: Column) -> list[dict[str, str]]:
        before = asked_prompts(self._systems[column.base], self.study.lab.prompts)
        return prompt_changes(before, asked_prompts(column.system, column.prompts))

    def _first_count(self) -> int:
        return min(COUNTS[0], len(self._questions))

    def _draw_grid(self) -> None:
        """Show the comparison, if there is one, and the variants that are kept."""
        kept = []
        for name, column in self._columns.items():
            if column.base:
                note = summary(self._changes_in_base(column))
                kept.append([name, column.base, note])
        if not self.comparison:
            self.grid = {"rows": [], "kept": kept, "more": self._first_count()}
            return
        more = self._next_count(len(self.comparison.study.benchmark.questions))
        self.grid = self.comparison.grid() | {
            "more": more,
            "price": self.comparison.price(more) if more else "",
            "add": [name for name in self._systems if name not in self._columns],
            "kept": kept,
        }

    def _next_count(self, asked: int) -> int:
        """On how many questions the columns run next; 0 if they have run on all."""
        most = len(self._questions)
        for count in (*COUNTS, most):
            if asked < count <= most:
                return count
        return 0

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
            variables.append([name, str(value), is_shown])
        return self._replied(call) | {
            "n": n,
            "prompt": call.request.prompt,
            "model": call.request.model,
            "temperature": call.request.parameters.get("temperature"),
            "rate": call.rate,
            "source": prompt.source,
            "data": variables,
            "turns": self._turns(call),
        }

    def _turns(self, call: Call) -> list[dict[str, Any]]:
        """The conversation of which a call is a turn: each reply, its query, and what was shown.

        Each turn's prompt ends with what the model is shown after the turn before.
        """
        by_length: dict[
            int, int
        ] = {}  # one call a turn, the last one if it was asked again
        for n in self._recorded.conversation(call):
            by_length[len(self._recorded.calls[n].messages)] = n
        turns: list[dict[str, Any]] = []
        for n in by_length.values():
            turn = self._recorded.calls[n]
            if turns:
                _, text = turn.messages[-1]
                # "Result" is a heading of agent_turn; other prompts have none.
                turns[-1]["seen"] = dict(sections(text)).get("Result", text)
            if turn.reply:
                said = without_thought(turn.reply.text)
                turns.append(
                    {
                        "n": n,
                        "said": said.partition("```")[0].strip(),
                        "sql": sql_in(said),
                        "seen": "",
                    }
                )
        return turns if len(turns) > 1 else []

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

    def _answer(self, sql: str, *, missing_is_wrong: bool = False) -> dict[str, Any]:
        """A query beside gold with its result and verdict."""
        question = self._recorded.question
        gold = self.study.benchmark.golds[question.id].sql
        status = self._verdicts[sql]
        if missing_is_wrong and not sql:
            status = "wrong"
        compared = beside_gold(self.study.lab, question, gold, sql)
        return compared | {"status": status}

    def _judged(self, queries: Collection[str]) -> dict[str, str]:
        """The verdict on each query: right or wrong, and none on no query."""
        lab, key = self.study.lab, self._recorded.question.id
        pairs = [(key, sql) for sql in queries if sql]
        are_right = ex_verdicts(self.study.benchmark, pairs, lab.executor, lab.limits)
        verdicts = {"": "none"}
        for (_, sql), is_right in zip(pairs, are_right, strict=True):
            verdicts[sql] = "right" if is_right else "wrong"
        return verdicts

    def _steps(self) -> list[dict[str, Any]]:
        """The system's steps with their calls, and the price of those that are missing."""
        steps = []
        is_reached = True  # once a call is missing, later steps are not
        for verb in ("retrieve", "prune", "generate", "fix", "select"):
            calls = [call for call in self._recorded.calls if call.verb == verb]
            missing = [call for call in self._recorded.missing if call.verb == verb]
            if calls or getattr(self.system, verb):
                steps.append(
                    {
                        "name": verb,
                        "calls": len(calls),
                        "missing": len(missing),
                        "price": cost(self.study.lab.client, missing)
                        if missing
                        else "",
                        "reached": is_reached,
                    }
                )
            if missing:
                is_reached = False
        return steps

    def _calls(self) -> list[list[str]]:
        """Prompt, label and status of each call.

        Its label is the column that it asks about, as "table.column", or else its number.
        """
        rows = []
        count = Counter[str]()
        for call in self._recorded.calls:
            prompt = call.request.prompt
            count[prompt] += 1
            label = str(count[prompt])
            if prompt == "prune/filter_column":
                first_line = str(call.data.get("column", label)).partition("\n")[0]
                label = first_line.removeprefix("Column: ")
            sql = self._query(call)
            status = self._verdicts[sql]
            if call.reply and not sql:
                status = "done"
            rows.append([prompt, label, status])
        return rows

    def _retrieved(self) -> dict[str, Any]:
        """The values that retrieval found, and the columns that pruning kept of each table."""
        contexts = self._recorded.contexts
        matches = contexts[0].values if contexts else ()
        values = [f"{match.table}.{match.column}: {match.value}" for match in matches]
        tables: list[Any] = []
        if len(contexts) < 2:  # nothing was pruned
            return {"values": values, "kept": tables}
        kept = set(contexts[-1].schema.columns())
        for table in contexts[0].schema.tables:
            columns = []
            for column in table.columns:
                is_kept = (table.name, column.name) in kept
                columns.append([column.name, is_kept])
            tables.append([table.name, columns])
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
        by_size = sorted(
            groups.items(), key=lambda group: (not group[0], -len(group[1]))
        )
        for fingerprint, trials in by_size:
            queries = dict.fromkeys(trial.candidate.sql or "no SQL" for trial in trials)
            execution = trials[0].execution
            rows = None
            if execution and fingerprint:
                rows = many(execution.row_count, "row")
            pool.append(
                {
                    "size": len(trials),
                    "status": self._verdicts[trials[0].candidate.sql],
                    "rows": rows,
                    "chosen": any(trial is selection.trial for trial in trials),
                    "queries": list(queries),
                }
            )
        return pool

    def _cached_outcomes(self) -> dict[str, str]:
        """Right, lost (a right candidate was there) or wrong, of the questions that are cached."""
        benchmark, lab = self.study.benchmark, self.study.lab
        keys = keys_of(self.system, benchmark.questions, lab)
        records = cached_records(lab.client.cache, keys)
        solved = [each for each in benchmark.questions if each.id in records]
        if not solved:
            return {}
        _, table = run_tables(benchmark.of(solved), records, lab.executor)
        verdicts = [table["correct"], table["oracle"]]
        outcomes = np.select(verdicts, ["right", "lost"], "wrong")
        return dict(zip(table["question_id"], outcomes.tolist(), strict=True))


def _paid(model: str, reply: Completion) -> str:
    if runs_here(model):
        return ""
    if reply.cached:
        return "cached"
    return "" if reply.cost is None else f"${reply.cost:.4f}"


def _reply(reply: Completion | None) -> dict[str, Any]:
    return {
        "cached": reply is not None,
        "reply": reply.text if reply else "",
        "replyTokens": reply.output_tokens if reply else 0,
    }
