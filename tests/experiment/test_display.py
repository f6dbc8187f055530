"""What a person sees while notebooks run."""

import io
from pathlib import Path

from workbench.experiment.display import Display, spent
from workbench.experiment.reproduce import Job


class Terminal(io.StringIO):
    def isatty(self):
        return True


def job(name, state="waiting", **progress):
    made = Job(name, Path(), {}, "", Path(f"{name}.ipynb"), state=state)
    made.cell_count, made.cells_done = 10, 4
    if progress:
        made.reports = [{"id": "x", "run": "chase_sql", **progress}]
    return made


def test_a_terminal_sees_notebooks_calls_hits_and_cost():
    out = Terminal()
    now = job("a", "running", done=3, total=8, calls=1234, hits=5, dollars=0.25, unpriced=0)
    Display(out)([now, job("b"), job("c", "unchanged")])
    text = out.getvalue()
    assert "c: unchanged\n" in text
    assert "a: cell 5 of 10, chase_sql, 3 of 8 questions\n" in text
    assert "1 done, 1 running, 1 waiting; 1,234 calls, 5 cached, $0.2500; 0:00" in text


def test_calls_of_unknown_price_are_counted_beside_the_dollars():
    jobs = [job(name, calls=3, hits=0, dollars=0.25, unpriced=2) for name in "ab"]
    assert spent(jobs) == "6 calls, 0 cached, $0.5000 and 4 calls of unknown price"


def test_lines_replace_themselves_on_a_terminal_only():
    terminal, file = Terminal(), io.StringIO()
    for out in (terminal, file):
        display = Display(out)
        display([job("a", "running"), job("b")])
        display([job("a", "done"), job("b")])
    assert "\033[2F\033[J" in terminal.getvalue()
    assert file.getvalue() == "a: done\n"


def test_without_a_terminal_a_line_says_every_30_seconds_how_far_it_is(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("workbench.experiment.display.time.monotonic", lambda: now[0])
    out = io.StringIO()
    display = Display(out)
    jobs = [
        job("a", "running", done=3, total=8, calls=1234, hits=5, dollars=0.0, unpriced=0),
        job("b"),
    ]
    for now[0] in (101.0, 129.0, 131.0, 140.0, 162.0):
        display(jobs)
    lines = out.getvalue().splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("0 done, 1 running, 1 waiting; 1,234 calls, 5 cached, $0.0000; 0:31")
    assert lines[0].endswith(" left")
    assert lines[1] == "  a: cell 5 of 10, chase_sql, 3 of 8 questions"


def test_a_failure_is_shown_once_and_with_its_reason():
    out = io.StringIO()
    failed = job("a", "failed")
    failed.error = "cell 3 (x): ValueError: no"
    display = Display(out)
    display([failed])
    display([failed])
    assert out.getvalue() == "a: failed: cell 3 (x): ValueError: no\n"
