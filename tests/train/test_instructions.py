"""MAC-SQL's agent-instruction data: the calls behind right answers, and no others."""

from workbench.benchmarks.bird import load_bird
from workbench.db.execute import Executor
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.llm.scripted import Scripted
from workbench.store import Store
from workbench.systems.mac_sql import mac_sql
from workbench.systems.system import solve
from workbench.train.conversations import read_conversations
from workbench.train.instructions import export, instructions

RIGHT = "Sub question 1: ...\n```sql\nSELECT count(*) FROM {}\n```"
TABLES = {"zoo": "animal", "shop": "item", "pond": "fish"}


class Counting:
    """A model that answers each question by counting the rows of its table."""

    def __init__(self):
        self.calls = 0

    def __call__(self, request, key, url, seconds):
        self.calls += 1
        table = next(
            t for t in TABLES.values() if f"# Table: {t}" in request.messages[1]["content"]
        )
        return Scripted([RIGHT.format(table)])(request, key, url, seconds)


def test_right_answers_are_exported_as_chats_that_end_with_the_reply(tmp_path, tiny):
    benchmark = load_bird(tiny.write_bird(tmp_path / "bird"))
    system = mac_sql("m/x")
    model = Counting()
    with Store(tmp_path / "lab.sqlite") as store, Executor(store, workers=1) as executor:
        lab = Lab(Client(store, send=model), executor, benchmark.database)
        for question in benchmark.questions:
            solve(system, question, lab)
        run = model.calls
        found = list(instructions(benchmark, system, lab))
        assert model.calls == run  # all from the cache
    # Of the four questions about each database the first asks for the count.
    assert [record.question_id for record in found] == ["0", "4", "8"]
    assert {record.agent for record in found} == {"generate/decomposer"}
    assert export(iter(found), tmp_path / "out.jsonl") == 3
    first = read_conversations(tmp_path / "out.jsonl")[0]
    assert [message["role"] for message in first] == ["system", "user", "assistant"]
    assert first[-1]["content"] == RIGHT.format("animal")


def test_every_agent_of_a_run_has_its_calls_there(tmp_path, tiny):
    benchmark = load_bird(tiny.write_bird(tmp_path / "bird"))
    broken = "SELECT count(*) FROM animals"

    class Stumbling(Counting):
        def __call__(self, request, key, url, seconds):
            if request.prompt == "generate/decomposer":
                return Scripted([broken])(request, key, url, seconds)
            return super().__call__(request, key, url, seconds)

    with Store(tmp_path / "lab.sqlite") as store, Executor(store, workers=1) as executor:
        lab = Lab(Client(store, send=Stumbling()), executor, benchmark.database)
        found = list(instructions(benchmark, mac_sql("m/x"), lab))
    assert [record.agent for record in found] == ["generate/decomposer", "fix/refiner"] * 3
