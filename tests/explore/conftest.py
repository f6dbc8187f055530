"""A study of twelve questions about three tables, whose remote model is played by this process."""

from types import SimpleNamespace

import pytest

import workbench as wb
from workbench.llm.client import Client
from workbench.llm.send import reply_with

RIGHT, WRONG = (
    "```sql\nSELECT count(*) FROM animal\n```",
    "```sql\nSELECT legs FROM animal\n```",
)


@pytest.fixture
def zoo(tmp_path, tiny, monkeypatch):
    """The model counts animals, which is right for question 0 alone; told to be brief, it is wrong there, too."""
    asked, replies = [], []

    async def send(request, *_):
        asked.append(request)
        text = WRONG if "Be brief." in str(request.messages) else RIGHT
        text = replies.pop(0) if replies else text
        return reply_with(text, "stop", 100, 10) | {"cost": 0.01}

    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(Client.__init__.__kwdefaults__, "send", send)
    root = tiny.write_bird(tmp_path / "bird")
    study = wb.open_study("bird-dev", root=root, model="openai/gpt-4o-mini")
    yield SimpleNamespace(study=study, lab=study.lab, system=wb.direct(study.model), asked=asked, replies=replies,
                          benchmark=study.benchmark, questions=study.benchmark.questions)  # fmt: skip
    study.close()


@pytest.fixture
def explorer(zoo):
    return wb.explore(zoo.study, zoo.system)
