"""Laws of the readers: an answer in any wrapping is read as itself, and no text raises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.replies.choices import read_choices
from workbench.replies.examples import read_examples
from workbench.replies.keywords import read_keywords
from workbench.replies.names import read_columns, read_decisions, read_tables
from workbench.replies.ranking import read_ranking
from workbench.replies.relevance import read_relevance
from workbench.replies.sql import read_sql
from workbench.replies.verdict import read_verdict

# Ways in which models wrap an answer of any form; {} stands for the answer.
WRAPPINGS = [
    "{}",
    "  {}\n",
    "<think>\nFirst I weigh both sides. Hmm.\n</think>\n{}",
    "<thinking>Not sure yet.</thinking>\n\n{}",
    "The thought began before the reply did.\n</think>\n{}",
    "[THINK]A thought.[/THINK]{}",
    "<|channel|>analysis<|message|>A thought.<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
    "<|im_start|>assistant\n{}<|im_end|>",
    "{}</s>",
    "<Thinking>Not sure.</Thinking>\n{}",
    "<reasoning>\nOn the one hand...\n</reasoning>\n\n{}",
    "<scratchpad>Some notes.</scratchpad>{}",
    "<seed:think>A thought.</seed:think>{}",
    "\u25c1think\u25b7A thought.\u25c1/think\u25b7{}",
    "<think>\n\n</think>\n\n{}",
    "<|begin_of_thought|>A thought.<|end_of_thought|>\n\n{}",
    "<|start_header_id|>assistant<|end_header_id|>\n\n{}<|eot_id|>",
    "<answer>\n{}\n</answer>",
    "\ufeff{}\n\n",
    "{}<|im_end|>\n<|im_start|>user\nThank you!<|im_end|>",
]
wrappings = st.sampled_from(WRAPPINGS)
SCHEMA = {"ferry": ["ferry_id", "name"], "sailing": ["sailing_id", "departs"]}
QUERIES = [
    "SELECT name FROM ferry",
    "SELECT COUNT(*) FROM sailing WHERE departs LIKE '2022%'",
    "WITH s AS (SELECT 1 AS n) SELECT n FROM s",
]


@given(
    wrappings,
    st.sampled_from(QUERIES),
    st.sampled_from(["{}", "```sql\n{}\n```", '{{"sql": "{}"}}']),
)
def test_a_query_in_any_wrapping_is_read_as_itself(wrapping, query, form):
    assert (
        read_sql(
            wrapping.replace("{}", form.replace("{}", query).replace("{{", "{").replace("}}", "}"))
        ).sql
        == query
    )


@given(
    wrappings,
    st.sampled_from("AB"),
    st.sampled_from(["{}", "**{}**", "Answer: {}", "Candidate {}", "\\boxed{{}}"]),
)
def test_a_letter_in_any_wrapping_is_read_as_itself(wrapping, letter, form):
    assert read_verdict(wrapping.replace("{}", form.replace("{}", letter))) == letter


@given(wrappings, st.permutations([1, 2, 3, 4]))
def test_a_ranking_in_any_wrapping_is_read_as_itself(wrapping, order):
    assert read_ranking(wrapping.replace("{}", str(order)), 4) == order


@given(wrappings, st.lists(st.sampled_from([0, 1]), min_size=1, max_size=5))
def test_choices_in_any_wrapping_are_read_as_themselves(wrapping, judged):
    lines = "\n".join(
        f"Unit test {n}: {'passed' if one else 'failed'}" for n, one in enumerate(judged, 1)
    )
    assert read_choices(wrapping.replace("{}", lines), "test", len(judged)) == judged


@given(wrappings, st.booleans())
def test_a_relevance_in_any_wrapping_is_read_as_itself(wrapping, relevant):
    word = "yes" if relevant else "no"
    assert (
        read_relevance(wrapping.replace("{}", f'{{"reasoning": "It fits.", "relevant": "{word}"}}'))
        is relevant
    )


READERS = {
    "sql": lambda text: read_sql(text).sql,
    "verdict": read_verdict,
    "ranking": lambda text: read_ranking(text, 3),
    "choices": lambda text: read_choices(text, "candidate", 3),
    "relevance": read_relevance,
    "tables": lambda text: read_tables(text, SCHEMA),
    "columns": lambda text: read_columns(text, SCHEMA),
    "decisions": lambda text: read_decisions(text, SCHEMA),
    "keywords": lambda text: read_keywords(text, "How many ferries?"),
    "examples": read_examples,
}
pieces = st.lists(
    st.sampled_from(
        [
            "SELECT ",
            "name ",
            "FROM ",
            "ferry",
            "```sql\n",
            "```",
            "{",
            "}",
            "[",
            "]",
            '"',
            "'",
            ":",
            ",",
            "sql",
            "\\",
            "<think>",
            "</think>",
            "A",
            "B",
            "1",
            "2",
            "passed",
            "not ",
            "all ",
            "\n",
            "; ",
            "Final answer: ",
            "| ",
            "\\boxed{",
        ]
    ),
    max_size=40,
).map("".join)


@pytest.mark.parametrize("name", READERS)
@given(text=st.one_of(st.text(max_size=80), pieces))
def test_no_text_raises(name, text):
    READERS[name](text)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "thought", ["<think>\nIt may be A, or 2, or SELECT name FROM ferry", "<reasoning>[1, 2, 3] {"]
)
def test_a_reply_that_ends_in_its_thought_says_nothing(name, thought):
    assert not any(READERS[name](thought) or ())
