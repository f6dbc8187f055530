"""An edited template becomes a folder that a lab can use, and replaces an existing template only when asked to."""

from dataclasses import replace

import pytest

from workbench.errors import BadInputError
from workbench.explore.prompt.editor import save_template as save
from workbench.explore.prompt.editor import template_source as source
from workbench.explore.prompt.steps import record

EDITED = "# System\nBe brief.\n# User\n## Question\n{{ question }}\n"


def test_a_lab_uses_the_saved_template(zoo, tmp_path):
    save(tmp_path / "mine", "generate/direct", EDITED)
    lab = replace(zoo.lab, prompts=tmp_path / "mine")
    step = record(zoo.system, zoo.questions[0], lab).steps[0]
    assert step.request.messages[0]["content"] == "Be brief."
    assert source("generate/direct", tmp_path / "mine") == EDITED


def test_an_existing_template_is_replaced_only_with_overwrite(tmp_path):
    path = save(tmp_path, "generate/direct", EDITED)
    with pytest.raises(BadInputError, match="exists and differs"):
        save(tmp_path, "generate/direct", EDITED + "More.\n")
    assert path.read_text() == EDITED
    save(tmp_path, "generate/direct", EDITED + "More.\n", overwrite=True)
    assert path.read_text() == EDITED + "More.\n"


def test_the_same_text_can_be_saved_twice(tmp_path):
    assert save(tmp_path, "generate/direct", EDITED) == save(tmp_path, "generate/direct", EDITED)


@pytest.mark.parametrize(
    "text", ["no parts", "# System\n# User\n{{ gold }}", "# System\n# User\n{{ question"]
)
def test_a_text_that_is_no_template_of_this_prompt_is_not_saved(tmp_path, text):
    with pytest.raises(BadInputError):
        save(tmp_path, "generate/direct", text)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BadInputError, match=r"file/generate/direct\.md: Not a directory"):
        save(tmp_path / "file", "generate/direct", EDITED)


def test_only_templates_of_existing_prompts_can_be_saved(tmp_path):
    with pytest.raises(BadInputError, match="there is no prompt"):
        save(tmp_path, "../outside", EDITED)
