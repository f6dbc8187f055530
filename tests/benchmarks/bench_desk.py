"""Keys of both widgets in Chromium: 1,500 questions or cases, 21 candidates.

    python tests/benchmarks/bench_desk.py [--quick]

1. The explorer: a question further, a search, and what a chosen question of CHASE-SQL takes to draw.
2. The labeller: a label, which shows the next case, a case further, and what the summary takes to draw.

A key is timed from its event until the page has its new layout. The median of each has to be at most 50 ms. Exits with 1
if a bar is missed, and with 2 without Chromium or Playwright.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
import workbench as wb
from tests.browser.conftest import CHROMIUM, QUIET
from tests.browser.page import mount
from tests.browser.test_label import labeller
from workbench.label.cases import cases, open_taxonomy

QUESTIONS, CANDIDATES, BAR = 1_500, 21, 50.0  # the bar in milliseconds
TIMED = """(steps) => steps.map(([selector, kind, key]) => {
    const node = document.querySelector(selector), start = performance.now();
    if (kind === "key") node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    else if (kind === "trait") fire(`change:${key}`);
    else { node.value = key; node.dispatchEvent(new Event("input", { bubbles: true })); }
    document.body.getBoundingClientRect();
    return performance.now() - start;
})"""


def timed(page, times, *steps):
    """The milliseconds of each time that the steps are made, with a pause between them."""
    took = []
    for _ in range(times):
        took += page.evaluate(TIMED, steps)
        page.wait_for_timeout(60)
    return took


def explorer(page, study, times):
    system = study.chase_sql()
    study.sample(2).run(system)
    widget = wb.explore(study.sample(2), system)
    assert sum(group["size"] for group in widget.detail["pool"]) == CANDIDATES
    rows = widget.rows
    widget.rows = [{**rows[n % len(rows)], "id": str(n)} for n in range(QUESTIONS)]
    widget.do_choose = lambda **_: None  # the kernel's time is no time of the page
    mount(page, widget)
    yield "a question further", timed(page, times, [".list", "key", "ArrowDown"])
    yield "a letter of a search", timed(page, times, [".find input", "type", "the"])
    yield "a question is drawn", timed(page, times, [".list", "trait", "detail"])


def label(page, study, folder, times):
    run = study.run(study.chase_sql())
    few = cases(study, run, open_taxonomy("CHESS"))
    many = []
    for n in range(QUESTIONS):
        case = few[n % len(few)]
        many.append(
            replace(case, question=replace(case.question, id=str(n), text=f"{n}?"))
        )
    widget = labeller(folder, many, "MAC-SQL")
    mount(page, widget)
    page.wait_for_timeout(500)
    yield "a case further", timed(page, times, [".case", "key", "ArrowRight"])
    yield (
        "a label",
        timed(page, times, [".case", "key", "1"], [".case", "key", "Enter"]),
    )
    yield "the summary is drawn", timed(page, times, [".case", "trait", "summary"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer keys")
    times = 5 if parser.parse_args().quick else 25
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if not program:
        print("needs Chromium and Playwright: make browser")
        sys.exit(2)
    missed = False
    with (
        tempfile.TemporaryDirectory() as folder,
        wb.open_study("embedded", limit=6) as study,
    ):
        os.environ["WORKBENCH_HOME"] = folder
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=QUIET)
            for rows in (
                explorer,
                lambda *given: label(given[0], study, Path(folder), times),
            ):
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                for name, took in rows(page, study, times):
                    middle, most = statistics.median(took), max(took)
                    missed = missed or middle > BAR
                    print(f"{name:24} median {middle:5.1f} ms, most {most:5.1f} ms")
                page.close()
            browser.close()
    sys.exit(missed)


if __name__ == "__main__":
    main()
