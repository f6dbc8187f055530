"""A prompt shows its sections with their tokens, and where the numbers are from."""

from dataclasses import replace

from workbench.explore.prompt.rendered import (
    prompt_html,
    sections,
    stages_html,
    tokens_per_character,
)
from workbench.explore.prompt.steps import record


def test_every_character_of_the_sections_is_in_the_prompt(zoo):
    request = record(zoo.system, zoo.questions[0], zoo.lab).steps[0].request
    whole = "".join(message["content"] for message in request.messages)
    assert all(text in whole for _, text in sections(request))
    titles = [title for title, _ in sections(request)]
    assert titles == ["System", "Task", "Database schema", "Question", "Hint", "Answer"]


def test_what_the_provider_counted_is_shared_by_length(zoo):
    request = record(zoo.system, zoo.questions[0], zoo.lab, pay=True).steps[0].request
    counted = zoo.lab.client.cached(request).input_tokens
    rate, page = tokens_per_character(request, zoo.lab.client)
    shared = sum(rate * len(text) for _, text in sections(request))
    assert abs(shared - counted) < 0.1 * counted
    assert "The provider counted" in page


def test_other_calls_of_the_model_give_the_rate_before_the_first_reply(zoo):
    record(zoo.system, zoo.questions[0], zoo.lab, pay=True)
    request = record(zoo.system, zoo.questions[1], zoo.lab).steps[0].request
    assert "as in 1 call of m/x" in tokens_per_character(request, zoo.lab.client)[1]


def test_without_any_call_tokens_are_estimated_by_a_rule_of_thumb(zoo):
    request = record(zoo.system, zoo.questions[0], zoo.lab).steps[0].request
    rate, page = tokens_per_character(request, zoo.lab.client)
    assert rate == 1 / 4
    assert "no call of this model" in page


def test_the_prompt_names_call_model_and_settings(zoo):
    step = record(zoo.system, zoo.questions[0], zoo.lab).steps[0]
    assert "generate/direct, asked of m/x, sample 0, temperature 0.0" in prompt_html(
        step, zoo.lab.client
    )


def test_the_stages_say_what_pruning_kept_and_dropped(zoo):
    found = record(zoo.system, zoo.questions[0], zoo.lab)
    (whole,) = found.contexts
    pruned = replace(whole, schema=whole.schema.only([("animal", "legs")]))
    page = stages_html(replace(found, contexts=(whole, pruned)))
    assert "pruning, step 1 dropped 1 of 3 columns" in page
    assert "animal: name" in page
    assert "<td>pruning, step 1</td><td>1</td><td>2</td>" in page


def test_a_recording_without_a_stage_shows_an_empty_table(zoo):
    found = record(zoo.system, zoo.questions[0], zoo.lab)
    assert "retrieval</td>" not in stages_html(replace(found, contexts=()))
