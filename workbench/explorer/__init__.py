"""The prompt explorer: a question's calls as they are sent, to be edited, priced, run, and kept as variants."""

import re
import shutil
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from workbench.canonical import content_hash
from workbench.errors import BadInputError
from workbench.evaluate.ex import ex_verdicts
from workbench.explorer.compare import Comparison, Grid, answer, changed, unused, with_prompts
from workbench.explorer.recording import Call, Edit, cost, edited, record, sql_in, template
from workbench.llm.calls import runs_here
from workbench.prompts import Prompt, names
from workbench.report.display import group_numbers
from workbench.store import home
from workbench.study.run import Run, run_tables
from workbench.study.solve import cached_records, keys_of, model_names
from workbench.study.study import Study
from workbench.systems.system import System
from workbench.widgets import pair, result, shown

COUNTS = (20, 50, 200)  # questions on which variants run, one press after another
_LONG = 200_000  # characters of a part of a prompt that are sent


def explore(study: Study, *systems: System | Run) -> "Explorer":
    """A widget that shows what systems send for a question, and compares what becomes of edited prompts.

    What is cached costs nothing, and the buttons say what the rest costs.
    """
    if not systems:
        raise BadInputError("no system is given: name one, as in wb.explore(study, wb.direct())")
    return Explorer(study, systems)


class Explorer(Grid):
    """`rows` has the questions with their outcomes, `detail` the chosen one with its calls, `grid` the comparison."""

    def __init__(self, study: Study, systems: Sequence[System | Run]) -> None:
        self.study, self._systems = study, dict[str, System]()
        for one in systems:
            name = unused(one.name, self._systems)
            self._systems[name] = one.system if isinstance(one, Run) else one
        self._questions = {one.id: one for one in study.benchmark.questions}
        self._columns: dict[str, tuple[System, Path | None]] = {}  # with a folder of prompts
        self._notes: dict[str, str] = {}  # what each variant changes
        self._prompt = ""  # of the call that is shown: the next question opens at the same one
        super().__init__()
        self.do_list(next(iter(self._systems)))

    def do_list(self, system: str) -> None:
        """List the questions with what is known of a system's answers, and show one."""
        self.name, self.system = system, self.study.with_settings(self._systems[system])
        known, golds = self._cached_outcomes(), self.study.benchmark.golds
        self.rows = [
            {"id": key, "db": shown(one.db_id), "difficulty": shown(golds[key].difficulty)}
            | {"question": shown(one.text, 600), "status": known.get(key, "none")}
            for key, one in self._questions.items()
        ]
        models = {*model_names(self.system), *self.study.models.values(), self.study.model}
        self.setup = {"systems": [*self._systems], "system": system} | {
            "benchmark": self.study.benchmark.name, "models": sorted(models)}  # fmt: skip
        self.do_choose(next(iter(self._questions)))

    def do_choose(self, key: str, *, pay: bool = False) -> None:
        """Show a question; with `pay`, make the calls that are missing."""
        question, lab = self._questions[key], self.study.lab
        self._recorded = found = record(self.system, question, lab, pay=pay)
        sql = found.selection.sql if found.selection else ""
        self._verdicts = {"": "none"}
        self._judge({sql, *found.queries.values()} - {""})
        first = next((n for n, call in enumerate(found.calls) if call.verb == "generate"), 0)
        same = (n for n, call in enumerate(found.calls) if call.request.prompt == self._prompt)
        gold, own = self.study.benchmark.golds[key], self._answer(sql)
        own |= {"status": "wrong"} if found.selection and not sql else {}
        self.detail = {
            "id": key, "db": shown(question.db_id), "difficulty": shown(gold.difficulty),
            "question": shown(question.text, 4_000), "hint": shown(question.evidence, 4_000),
            "gold": shown(gold.sql, 20_000), "goldResult": result(lab.run(question, gold.sql)),
            "answer": own, "steps": self._steps(),
            "calls": self._calls(), "found": self._found(), "pool": self._pool(),
            "call": self._told(next(same, first)) if found.calls else None,
        }  # fmt: skip

    def do_call(self, key: str, n: int) -> dict[str, Any]:
        """A call with its template, the data that it shows, and its cached reply."""
        self._prompt = self._call(key, n).request.prompt
        return self._told(n)

    def _told(self, n: int) -> dict[str, Any]:
        call = self._recorded.calls[n]
        request, prompt = call.request, self._template(call)
        data = [[shown(name), shown(str(value), _LONG), name in prompt.variables]
                for name, value in call.data.items()]  # fmt: skip
        about = {"n": n, "prompt": shown(request.prompt), "model": shown(request.model)}
        about |= {"temperature": request.parameters.get("temperature"), "rate": call.rate}
        return about | {"source": prompt.source, "data": data} | self._replied(call)

    def do_render(self, key: str, n: int, edit: Edit) -> dict[str, Any]:
        """The prompt as an edit makes it, its price, and that of the edit on more questions."""
        was = self._call(key, n)
        call = edited(was, self._template(was), edit)
        name, calls = was.request.prompt, self._recorded.calls
        first = min(k for k, one in enumerate(calls) if one.request.prompt == name)
        anew = [call if one.request.prompt == name else one for one in calls[first:]]
        count = min(COUNTS[0], len(self._questions))
        client = self.study.lab.client
        return {
            "parts": [[role, shown(title), shown(body, _LONG), round(len(body) * was.rate)]
                      for role, title, body in call.parts],
            "tokens": round(len(call.text) * was.rate), "price": cost(client, [call]),
            "count": count, "many": cost(client, anew, count),
        }  # fmt: skip

    def do_run(self, key: str, n: int, edit: Edit) -> dict[str, Any]:
        """The reply to an edited call with its query, result and verdict, and the verdict before the edit."""
        was, question, lab = self._call(key, n), self._recorded.question, self.study.lab
        call, before = edited(was, self._template(was), edit), self._replied(was)
        reply = lab.client.complete(call.request)
        if reply.fault:
            raise BadInputError(f"{call.request.model} did not answer: {reply.error}")
        proposes = call.verb in {"generate", "fix"} and (before["sql"] or not before["cached"])
        sql = sql_in(reply.text) if proposes else ""
        self._judge([sql] if sql else [])
        found = self._replied(replace(call, reply=reply), sql)
        if before["sql"] and not sql:
            found["status"] = "wrong"
        paid = "cached" if reply.cached else "" if reply.cost is None else f"${reply.cost:.4f}"
        schema = lab.schema(question.db_id)
        return found | {
            "paid": "" if runs_here(call.request.model) else paid, "was": before["status"],
            "pairBefore": pair(before["sql"], sql, schema) if before["sql"] and sql else [],
        }  # fmt: skip

    def do_keep(self, edits: Mapping[str, Edit]) -> None:
        """Keep edits, by the names of their prompts, as a variant of the system."""
        lab, system, notes = self.study.lab, self._systems[self.name], []
        told = content_hash("variant", [self.name, str(lab.prompts), edits])[-12:]
        folder = home() / "variants" / ".unsaved" / told
        if lab.prompts:
            shutil.copytree(lab.prompts, folder, dirs_exist_ok=True)
        for prompt, edit in edits.items():
            was = template(self.system, prompt, lab)
            now = Prompt(edit.get("source", was.source), prompt)
            system = system if prompt in names() else changed(system, prompt, {"prompt": now})
            file = folder / f"{prompt}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(now.source, encoding="utf-8")
            given = {part: edit[part] for part in ("model", "temperature") if part in edit}
            before, system = system, changed(system, prompt, given)
            if given and before == system:
                raise BadInputError(f"no step of {self.name} has the model of {prompt} alone")
            notes.append(" ".join([prompt, *map(str, given.values())]))
        self._columns.setdefault(self.name, (self._systems[self.name], None))
        name = unused(f"v{1 + len(self._notes)}", self._columns)
        self._columns[name], self._notes[name] = (system, folder), "; ".join(notes)

    def do_compare(self, count: int = COUNTS[0], add: str = "") -> None:
        """Run the columns on `count` questions, evenly spread. `add` is a system to add; at first all systems are."""
        for name in [add] if add else [] if self._columns else self._systems:
            self._columns[name] = (self._systems[name], None)
        runs, most = {}, len(self.study.benchmark.questions)
        few = self.study.sample(min(count, most))
        for name, (system, prompts) in self._columns.items():
            runs[name] = with_prompts(few, prompts).run(system, name)
        self.found = found = Comparison(few, runs, self._notes)
        more = next((n for n in (*COUNTS, most) if len(few.benchmark.questions) < n <= most), 0)
        self.grid = found.grid() | {
            "more": more, "price": found.price(more) if more else "",
            "add": [name for name in self._systems if name not in self._columns],
            "variants": len(self._notes),
        }  # fmt: skip

    def do_save(self, name: str) -> str:
        """Save the variants in the workbench's home: for each a folder of prompts, and an experiment beside it."""
        folder = home() / "variants" / name
        if not re.fullmatch(r"\w[\w.-]*", name) or folder.exists():
            raise BadInputError(f"{name!r} is taken or no name: give letters, digits, _ and -")
        experiment = self.study.experiment
        for variant, note in self._notes.items():
            system, prompts = self._columns[variant]
            shutil.copytree(str(prompts), folder / variant)
            settings = {"about": f"{system.name}, {variant}: {note}", "prompts": variant}
            settings |= {"benchmark": experiment.benchmark, "model": self.study.model}
            settings |= {"root": str(experiment.root)} if experiment.root else {}
            said = yaml.safe_dump(settings, sort_keys=False)
            (folder / f"{variant}.yaml").write_text(said, encoding="utf-8")
        return f"{folder}: {', '.join(self._notes)}, each a folder of prompts with an experiment"

    def _call(self, key: str, n: int) -> Call:
        if key != self._recorded.question.id or n >= len(self._recorded.calls):
            raise BadInputError("another question is shown by now")
        return self._recorded.calls[n]

    def _template(self, call: Call) -> Prompt:
        return template(self.system, call.request.prompt, self.study.lab)

    def _replied(self, call: Call, sql: str | None = None) -> dict[str, Any]:
        """A call's reply, the query in it with its result, and the verdict."""
        said = call.reply
        if sql is None:
            sql = self._recorded.queries.get(said.key, "") if said else ""
        return self._answer(sql) | {
            "cached": said is not None, "reply": shown(said.text, _LONG) if said else "",
            "replyTokens": said.output_tokens if said else 0,
        }  # fmt: skip

    def _answer(self, sql: str) -> dict[str, Any]:
        """A query beside gold with its result and verdict."""
        question = self._recorded.question
        gold = self.study.benchmark.golds[question.id].sql
        return answer(self.study.lab, question, gold, sql) | {"status": self._verdicts[sql]}

    def _judge(self, queries: Collection[str]) -> None:
        pairs, lab = [(self._recorded.question.id, one) for one in queries], self.study.lab
        verdicts = ex_verdicts(self.study.benchmark, pairs, lab.executor, lab.limits)
        told = zip(queries, verdicts, strict=True)
        self._verdicts |= {sql: "right" if right else "wrong" for sql, right in told}

    def _steps(self) -> list[dict[str, Any]]:
        """The system's steps with their numbers of calls, and the price of those that are missing."""
        found, reached = [], True
        for verb in ("retrieve", "prune", "generate", "fix", "select"):
            calls = [call for call in self._recorded.calls if call.verb == verb]
            missing = [call for call in self._recorded.missing if call.verb == verb]
            if calls or getattr(self.system, verb):
                price = cost(self.study.lab.client, missing) if missing else ""
                about = {"name": verb, "calls": len(calls), "missing": len(missing)}
                found.append(about | {"price": price, "reached": reached})
            reached = reached and not missing
        return found

    def _calls(self) -> list[list[str]]:
        """Prompt, label and status of each call."""
        queries, same, found = self._recorded.queries, defaultdict[str, list[Call]](list), []
        for call in self._recorded.calls:
            same[call.request.prompt].append(call)
        labels = {name: iter(_apart(calls)) for name, calls in same.items()}
        for call in self._recorded.calls:
            sql = queries.get(call.reply.key, "") if call.reply else ""
            name, status = call.request.prompt, self._verdicts[sql]
            status = "done" if call.reply and not sql else status
            found.append([shown(name), shown(next(labels[name]), 80), status])
        return found

    def _found(self) -> dict[str, Any]:
        """The values that retrieval found, and the columns that pruning kept of each table."""
        if not self._recorded.contexts:
            return {"values": [], "kept": []}
        first, last = self._recorded.contexts[0], self._recorded.contexts[-1]
        values = [shown(f"{v.table}.{v.column}: {v.value}") for v in first.values]
        left = set(last.schema.columns())
        tables = [[shown(t.name), [[shown(c.name), (t.name, c.name) in left] for c in t.columns]]
                  for t in first.schema.tables]  # fmt: skip
        return {"values": values, "kept": [] if last is first else tables}

    def _pool(self) -> list[dict[str, Any]]:
        """The candidates by result, the largest group first; those without a result last."""
        selection = self._recorded.selection
        trials, chosen = (selection.trials, selection.trial) if selection else ((), None)
        groups = group_numbers([t.execution.fingerprint if t.execution else "" for t in trials])
        found = []
        for group in sorted({*groups}, key=lambda group: (group < 0, group)):
            own = [trial for trial, its in zip(trials, groups, strict=True) if its == group]
            ran, queries = own[0].execution, dict.fromkeys(trial.candidate.sql for trial in own)
            rows = f"{ran.row_count:,} rows" if ran and group >= 0 else "no result"
            found.append({
                "size": len(own), "status": self._verdicts[own[0].candidate.sql], "rows": rows,
                "chosen": any(trial is chosen for trial in own),
                "queries": [shown(sql or "no SQL", 4_000) for sql in queries],
            })  # fmt: skip
        return found

    def _cached_outcomes(self) -> dict[str, str]:
        """Right, lost (a right candidate was there) or wrong, of the questions whose results are cached."""
        study, questions = self.study, self.study.benchmark.questions
        keys = keys_of(self.system, questions, study.lab)
        records = cached_records(study.lab.client.cache, keys)
        solved = tuple(one for one in questions if one.id in records)
        if not solved:
            return {}
        few = replace(study.benchmark, questions=solved)
        _, rows = run_tables(few, records, study.lab.executor)
        told = rows[["question_id", "correct", "oracle"]].itertuples(index=False)
        return {key: "right" if ok else "lost" if some else "wrong" for key, ok, some in told}


def _apart(calls: Sequence[Call]) -> list[str]:
    """A name for each call of one prompt: the first line of a text that differs in all of them, else its number."""
    for name in calls[0].data if all(call.request.sample == 0 for call in calls[1:]) else ():
        lines = [str(c.data.get(name)).partition("\n")[0].rpartition(": ")[2] for c in calls]
        if len(set(lines)) == len(calls) > 1:
            return lines
    return [str(n) for n in range(1, len(calls) + 1)]
