"""The views answer at once on 1,534 questions with 21 candidates each.

Measured in processor time on two busy cores: 0.2 s for a picked question, 0.1 s to open the cache browser, 0.2 s for a
search of two words in all prompts and replies, less than 0.1 s for the others. `pytest -s` prints the times.
"""

import time

import pytest

from tests.explore.big_cache import MODEL, big_study, system
from workbench.current_question import CurrentQuestion
from workbench.explore.cache_browser import CacheBrowser
from workbench.explore.compare.variants import Variants
from workbench.explore.pool_browser import PoolBrowser
from workbench.explore.prompt_explorer import PromptExplorer
from workbench.explore.run_browser import RunBrowser
from workbench.systems.baselines import direct

pytestmark = pytest.mark.slow
SECONDS = 4.0  # ten times what the slowest takes


@pytest.fixture(scope="module")
def views(tmp_path_factory):
    """The four views, each with a question of its own, so that a reaction is that of one view."""
    with big_study(tmp_path_factory.mktemp("big")) as (study, runs):
        systems = {"three generators": system(), "direct": direct(MODEL)}
        own = [CurrentQuestion() for _ in range(4)]
        yield {
            "study": study,
            "prompts": PromptExplorer(study, systems, run=runs[0], current=own[0]),
            "runs": RunBrowser(study, *runs, current=own[1]),
            "pools": PoolBrowser(study, runs[0], current=own[2]),
            "calls": CacheBrowser(study, current=own[3]),
            "variants": Variants({"a": study, "b": study}, dict(zip("ab", runs, strict=True))),
        }


def choose(widget, number):
    """Choose an option, as a reader does, by its number."""
    widget.value = widget.options[number][1]


REACTIONS = {
    "a question is picked": lambda views: choose(views["prompts"].picker.list, 777),
    "questions are searched": lambda views: setattr(
        views["prompts"].picker.text, "value", "number 77"
    ),
    "a call is chosen": lambda views: choose(views["prompts"].step, 1),
    "a template is edited": lambda views: setattr(
        views["prompts"].editor.source, "value", "# System\n# User\n{{ question }}"
    ),
    "errors are listed": lambda views: choose(views["runs"].shown, 5),
    "a cell of the heat map is picked": lambda views: setattr(views["runs"].map, "chosen", "5"),
    "a pool is opened": lambda views: choose(views["pools"].picker.list, 100),
    "the cache is opened": lambda views: CacheBrowser(views["study"], current=CurrentQuestion()),
    "prompts and replies are searched": lambda views: setattr(
        views["calls"].text, "value", "SELECT nothing"
    ),
    "a search finds nothing": lambda views: setattr(views["calls"].text, "value", "xyzzy"),
    "the calls of a prompt are listed": lambda views: choose(views["calls"].prompt, 1),
    "a question of the variants is opened": lambda views: views["variants"].question_html("77"),
}


@pytest.mark.parametrize("what", REACTIONS)
def test_a_view_answers_at_once_when(what, views):
    began = time.process_time()
    REACTIONS[what](views)
    took = time.process_time() - began
    print(f"{what}: {took:.3f} s")
    assert took < SECONDS
