"""What readers take replies to say: a table of cases, and laws that hold for any text."""

import gc
import time
from dataclasses import astuple
from functools import partial
from itertools import product
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from workbench import replies
from workbench.types import Example

TABLE = yaml.safe_load(
    Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8")
)
UNITS = TABLE.pop("units")
READERS = {
    name: partial(getattr(replies, name), **part.get("data", {}))
    for name, part in TABLE.items()
}
ASKED = [(name, case) for name, part in TABLE.items() for case in part["asked"]]
OTHER = [(name, case) for name, part in TABLE.items() for case in part["other"]]
WRAPPINGS = [  # of any answer; {} stands for it
    "{}",
    "  {}\n",
    "\ufeff{}\r\n\r\n",
    "<think>\nFirst I weigh both sides. SELECT 1? A, or [1]?\n</think>\n{}",
    "<thinking>Not sure yet.</thinking>\n\n{}",
    "<Thinking>Not sure.</Thinking>\n{}",
    'The thought began before the reply did: {"sql": "SELECT 1"}.\n</think>\n{}',
    "<reasoning>\nOn the one hand...\n</reasoning>\n\n{}",
    "<scratchpad>Some notes.</scratchpad>{}",
    "<seed:think>A thought.</seed:think>{}",
    "[THINK]A thought.[/THINK]{}",
    "\u25c1think\u25b7A thought.\u25c1/think\u25b7{}",
    "<|begin_of_thought|>A thought.<|end_of_thought|>\n\n{}",
    "<|channel|>analysis<|message|>B?<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
    "<|im_start|>assistant\n{}<|im_end|>",
    "<|start_header_id|>assistant<|end_header_id|>\n\n{}<|eot_id|>",
    "{}</s>",
    "{}<|im_end|>\n<|im_start|>user\nThank you!<|im_end|>",
    "<answer>\n{}\n</answer>",
    "<final_answer>{}</final_answer>",
]


def said(name, text):
    """What a reader takes a reply to say; None where it is unread."""
    try:
        found = READERS[name](text)
    except replies.Unread:
        return None
    return [list(astuple(one)) for one in found] if name == "examples" else found


@pytest.mark.parametrize(("name", "case"), ASKED + OTHER)
def test_a_reply_says_what_the_table_has_and_nothing_where_it_is_unread(name, case):
    assert ("value" in case) != ("unread" in case)
    assert said(name, case["reply"]) == case.get("value")


@pytest.mark.parametrize("example", replies.LETTER_FORMS)
def test_a_claim_in_each_form_names_its_letter(example):
    assert said("letter", example) == "A"


@pytest.mark.parametrize("example", replies.YES_FORMS)
def test_a_verdict_in_prose_is_read_in_each_form(example):
    assert said("relevant", example) is True
    swapped = example.replace("Yes", "No").replace("yes", "no")
    assert said("relevant", swapped) is False


@pytest.mark.parametrize("example", replies.VERDICT_FORMS)
def test_verdicts_on_candidates_are_read_in_each_form(example):
    others = example.startswith("All")
    assert replies.verdicts(example, count=3) == [True, others, others]


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize(("name", "case"), ASKED)
def test_the_form_asked_for_is_read_in_any_wrapping(name, case, wrapping):
    assert said(name, wrapping.replace("{}", case["reply"])) == case["value"]


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "thought", ["<think>\n{}", "<reasoning>{}", "<|channel|>analysis<|message|>{}"]
)
def test_a_reply_that_ends_in_its_thought_says_nothing(name, thought):
    assert said(name, thought.replace("{}", TABLE[name]["asked"][0]["reply"])) is None


TEXTS = st.text(max_size=80) | st.lists(st.sampled_from(UNITS), max_size=40).map(
    "".join
)


@pytest.mark.parametrize("name", READERS)
@given(text=TEXTS)
def test_no_text_raises_anything_but_unread(name, text):
    said(name, text)


LEADS = ("", "SELECT a FROM b WHERE ", "```sql\nSELECT '", '{"sql": "', "[")


@pytest.fixture
def no_gc():
    """No collection of the whole process's garbage falls into a measured time."""
    gc.disable()
    yield
    gc.enable()


def processor_time(name, lead, unit, length):
    began = time.thread_time()
    said(name, lead + unit * (length // len(unit)))
    return time.thread_time() - began


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_the_processor_time_of_a_reply_grows_with_its_length_and_not_with_its_square(
    name, no_gc
):
    for lead, unit in product(LEADS, UNITS):
        short = processor_time(name, lead, unit, 10_000)
        long = processor_time(name, lead, unit, 100_000)
        # By the square, it would be 100 times.
        assert long < 30 * short + 0.2, (lead, unit)


def test_examples_are_records():
    line = '{"input": "How many? (Hints: all)", "output": "SELECT COUNT(*) FROM t"}'
    assert replies.examples(line) == [
        Example("How many?", "SELECT COUNT(*) FROM t", "all")
    ]
