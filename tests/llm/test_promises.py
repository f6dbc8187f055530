"""What is paid is paid once, is on disk before anybody sees it, and is waited for."""

import asyncio
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import workbench as wb
from tests.llm.server import Server
from workbench.errors import BudgetError, ProviderError, StoppedError, StoreError
from workbench.llm.turns import Limiter

ASKER = Path(__file__).with_name("asker.py")


def start(cache, server, *given, **options):
    command = [sys.executable, str(ASKER), str(cache), server.url, *map(str, given)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def stored(path):
    with wb.Cache(path) as cache:
        return {key for (key,) in cache.read("SELECT key FROM calls")}


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_threads_and_processes_pay_a_request_once(tmp_path):
    with Server(seconds=0.05) as server:
        programs = [start(tmp_path / "lab.sqlite", server, 8, 200) for _ in range(4)]
        for program in programs:
            out, err = program.communicate(timeout=120)
            assert program.returncode == 0, err
            assert len(out.splitlines()) == 8 * 200
    assert (server.calls, server.requests) == (200, 200)


def test_two_clients_of_a_process_pay_once(cache, server, ask):
    server.seconds = 0.2
    clients = [wb.Client(cache, api_base=server.url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda client: client.complete_many(ask(10)), clients))
    assert server.calls == 10
    assert sum(client.ledger.total().calls for client in clients) == 10


def test_a_kill_loses_nothing_that_was_seen_and_little_that_was_paid(tmp_path):
    path, seen, number = tmp_path / "lab.sqlite", set(), 500
    with Server(seconds=0.1) as server:
        for kill in range(10):  # of threads, and of one call for all answers
            program = start(path, server, 1 if kill % 2 else 16, number)
            wanted = 30 * (kill + 1)
            until(lambda: server.calls > wanted)  # noqa: B023
            program.send_signal(signal.SIGTERM if kill % 4 < 2 else signal.SIGKILL)
            lines = program.communicate()[0].splitlines(keepends=True)
            seen |= {line.strip() for line in lines if line.endswith("\n")}
            assert seen <= stored(path)
            assert server.calls <= len(stored(path)) + 2 * 16 * (kill + 1)
        program = start(path, server, 1, number)
        program.communicate(timeout=60)
    assert len(stored(path)) == number
    assert server.calls <= number + 10 * 2 * 16


@pytest.mark.parametrize("again", [False, True])
def test_ctrl_c_waits_for_what_is_under_way_and_a_second_one_leaves(tmp_path, again):
    path = tmp_path / "lab.sqlite"
    with Server(seconds=600) as server:
        program = start(path, server, 1, 100)
        until(lambda: server.requests == 16)
        program.send_signal(signal.SIGINT)
        said = "waiting for 16 replies under way; Ctrl-C again leaves them\n"
        assert said in iter(program.stderr.readline, "")
        if again:
            program.send_signal(signal.SIGINT)
        else:
            server.closing.set()  # the replies come
        assert "KeyboardInterrupt" in program.communicate(timeout=60)[1]
        assert (server.requests, len(stored(path))) == (16, 0 if again else 16)


def test_a_stop_of_questions_in_threads_sends_nothing_more(cache, ask):
    def answer(n):
        for one in ask(5, first=5 * n):
            client.complete(one)

    with Server(seconds=0.4) as server, ThreadPoolExecutor(8) as pool:
        client = wb.Client(cache, api_base=server.url)
        runs = [pool.submit(answer, n) for n in range(8)]
        until(lambda: server.requests == 8)
        with client.stopped():
            assert all(isinstance(run.exception(), StoppedError) for run in runs)
        assert (server.requests, len(stored(cache.path))) == (8, 8)
        assert client.complete_many(ask(9))[8].text  # the client goes on


def test_a_wrong_key_ends_the_run_and_what_came_is_kept(cache, server, ask):
    server.plan.extend(["ok"] * 5 + ["401"] * 95)
    client = wb.Client(cache, api_base=server.url, at_once=4)
    with pytest.raises(ProviderError, match="5 answers of this run are cached"):
        client.complete_many(ask(100))
    assert server.requests < 5 + 8
    server.plan.clear()
    client.complete_many(ask(100))
    assert server.calls == 100


def test_calls_go_on_while_replies_are_stored_but_not_far(
    cache, server, ask, monkeypatch
):
    """On a slow disk at most as many replies wait as calls may be under way."""
    disk, save = threading.Event(), wb.Cache._save
    monkeypatch.setattr(wb.Cache, "_save", lambda *given: (disk.wait(60), save(*given)))
    client = wb.Client(cache, api_base=server.url, at_once=16)
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(client.complete_many, ask(60))
        try:
            until(lambda: server.requests > 16, seconds=10)
            time.sleep(0.3)
            assert server.requests <= 2 * 16
            assert not stored(cache.path)
        finally:
            disk.set()
        assert all(answer.text for answer in run.result())
    assert (server.calls, len(stored(cache.path))) == (60, 60)


def test_a_call_that_is_cancelled_hands_on_the_place_it_was_told_of():
    async def use(limiter):
        async with limiter.place():
            pass

    async def run():
        limiter = Limiter(1)
        async with limiter.place():
            first, second = (asyncio.create_task(use(limiter)) for _ in range(2))
            await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.wait_for(second, 5)

    asyncio.run(run())


@pytest.fixture
def full_disk():
    """Calling it makes files stop growing in this process, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def fill(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))

    yield fill
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_on_a_full_disk_replies_wait_in_memory_until_there_is_room(
    cache, ask, full_disk
):
    with Server(seconds=0.2) as server:
        client = wb.Client(cache, api_base=server.url)
        client.complete_many(ask(1))
        size = max(path.stat().st_size for path in cache.path.parent.iterdir())
        full_disk(size)
        with pytest.raises(StoreError, match="paid replies wait in memory") as caught:
            client.complete_many(ask(265))
        waiting = server.calls - len(stored(cache.path))
        paid = server.calls
        assert 1 <= waiting <= 2 * 64  # under way, and on their way to the disk
        assert f"{waiting} paid replies" in str(caught.value)
        assert str(cache.path) in str(caught.value)
        with pytest.raises(StoreError):
            wb.Client(wb.Cache(cache.path), api_base=server.url).complete_many(ask(265))
        assert server.calls == paid  # a full disk pays for nothing more
        full_disk(resource.RLIM_INFINITY)
        answers = wb.Client(wb.Cache(cache.path), api_base=server.url).complete_many(
            ask(265)
        )
        assert all(answer.text for answer in answers)
        assert server.calls == 265


def test_a_budget_is_kept_to_the_call_by_all_processes(tmp_path):
    with Server(seconds=0.02) as server:
        programs = [
            start(tmp_path / "lab.sqlite", server, 4, 100, 25) for _ in range(3)
        ]
        errors = [program.communicate(timeout=60)[1] for program in programs]
    assert server.requests == 25
    assert all("the budget of 25 calls is used up" in error for error in errors)


@pytest.mark.parametrize(
    "fault", ["utf-8", "number", "nan", "nested", "html", "cut", "choices", "reset"]
)
def test_what_is_perhaps_paid_counts_and_what_has_status_200_is_not_repeated(
    cache, ask, fault
):
    with Server([fault] * 500) as server:
        client = wb.Client(
            cache, api_base=server.url, budget=wb.Budget(calls=20), retries=1
        )
        with pytest.raises(BudgetError):
            client.complete_many(ask(100))
        assert server.requests <= 20
        assert client.budget.made == server.requests
        assert not stored(cache.path)


def priced(tokens):
    return {"choices": [{"message": {"content": "SELECT 1"}}], "cost": tokens * 0.001,
            "usage": {"prompt_tokens": 10, "completion_tokens": tokens}}  # fmt: skip


def test_dollars_are_kept_where_a_provider_ignores_the_limit(cache, ask):
    client = wb.Client(
        cache, send=wb.scripted([priced(90)] * 200), budget=wb.Budget(dollars=1)
    )
    with pytest.raises(BudgetError, match=r"\$1\.0000 is reached"):
        client.complete_many(ask(200, max_tokens=5))
    assert 0.8 < client.budget.spent <= 1.0 + 0.09


def test_a_large_reserve_does_not_serialise_or_leave_half(cache, ask):
    under_way, together = [], []

    async def send(request, *_):
        under_way.append(request)
        together.append(len(under_way))
        await asyncio.sleep(0.05)
        under_way.remove(request)
        return priced(1)

    client = wb.Client(cache, send=send, budget=wb.Budget(dollars=0.3))
    with pytest.raises(BudgetError):
        client.complete_many(ask(400, "openai/gpt-4o"))
    assert client.budget.spent == pytest.approx(0.3, abs=0.003)
    assert max(together) > 8


def test_a_reached_budget_says_what_is_spent_and_cached(cache, ask):
    client = wb.Client(
        cache, send=wb.scripted(otherwise="SELECT 1"), budget=wb.Budget(calls=7)
    )
    client.complete_many(ask(5))
    with pytest.raises(BudgetError, match=r"7 calls.*7 answers of this run are cached"):
        client.complete_many(ask(5, first=5))


def test_an_unknown_price_is_refused_under_dollars_and_never_zero(cache, server, ask):
    client = wb.Client(cache, api_base=server.url, budget=wb.Budget(dollars=5))
    with pytest.raises(BudgetError, match="no price is known"):
        client.complete_many(ask(1, "openai/some-new-model"))
    assert not server.requests
    answer = wb.Client(cache, api_base=server.url).complete(
        ask(1, "openai/some-new-model")[0]
    )
    assert answer.cost is None
    assert "unknown price" in str(client.preview(ask(2, "openai/some-new-model")))


def test_a_process_that_was_killed_leaves_its_reserve_as_spent(cache, ask):
    budget = wb.Budget(calls=3, name="of a run")
    for _ in range(2):
        asyncio.run(budget.reserve(cache, ask(1)[0]))
    rest = wb.Budget(calls=3, name="of a run")
    with pytest.raises(BudgetError):
        wb.Client(cache, send=wb.scripted(otherwise="a"), budget=rest).complete_many(
            ask(2)
        )
    assert rest.made == 1


def test_a_cache_that_is_closed_waits_for_a_write_that_reads(tmp_path):
    store = wb.Cache(tmp_path / "lab.sqlite")
    with store.write():
        closing = threading.Thread(target=store.close, daemon=True)
        closing.start()
        closing.join(0.2)
        reading = threading.Thread(target=store.read, args=["SELECT 1"], daemon=True)
        reading.start()
        reading.join(5)
        assert closing.is_alive()
        assert not reading.is_alive()
    closing.join(5)
    assert not closing.is_alive()
