"""BIRD as its archives unpack, and every way in which a folder can be something else."""

import json

import pytest

from workbench.benchmarks.bird import load_bird
from workbench.benchmarks.named import open_benchmark
from workbench.errors import BadInputError
from workbench.types import Gold, Question

SPLITS = {
    "bird-dev": ("dev_20240627", "dev.json", "dev_databases"),
    "bird-mini-dev": ("minidev/MINIDEV", "mini_dev_sqlite.json", "dev_databases"),
    "bird-train": ("train", "train.json", "train_databases"),
}


@pytest.mark.parametrize("split", SPLITS)
def test_a_split_is_found_from_its_folder_and_from_the_two_above_it(tmp_path, tiny, split):
    folder, file, databases = SPLITS[split]
    tiny.write_bird(tmp_path / "data" / folder, file, databases)
    inside = (tmp_path / "data" / folder).resolve()
    for root in (inside, inside.parent, inside.parent.parent):
        benchmark = open_benchmark(split, root)
        assert (benchmark.name, benchmark.sense, len(benchmark.questions)) == (split, "bird", 12)
        assert benchmark.databases == inside / databases


def test_an_item_becomes_a_question_and_apart_from_it_a_gold(tmp_path, tiny):
    benchmark = load_bird(tiny.write_bird(tmp_path / "dev"))
    assert benchmark.questions[2] == Question("2", "zoo", "zoo, question 2?", "hint 2")
    gold = Gold("2", "SELECT name FROM animal WHERE legs = 4", "challenging")
    assert benchmark.golds["2"] == gold


def test_sparse_question_ids_are_kept(tmp_path, tiny):
    root = tiny.write_bird(
        tmp_path / "m", "mini_dev_sqlite.json", items=tiny.bird_items(tiny.sparse)
    )
    benchmark = open_benchmark("bird-mini-dev", root)
    assert [question.id for question in benchmark.questions] == [str(key) for key in tiny.sparse]


def test_in_the_train_split_an_items_position_is_its_id(tmp_path, tiny):
    items = [
        {name: item[name] for name in ("db_id", "question", "evidence", "SQL")}
        for item in tiny.bird_items()
    ]
    root = tiny.write_bird(tmp_path / "train", "train.json", "train_databases", items)
    benchmark = open_benchmark("bird-train", root)
    assert [question.id for question in benchmark.questions] == [str(n) for n in range(12)]
    assert {gold.difficulty for gold in benchmark.golds.values()} == {""}


def test_databases_unpacked_into_a_folder_of_their_own_name_are_found(tmp_path, tiny):
    root = tiny.write_bird(tmp_path / "dev", databases="dev_databases/dev_databases")
    (root / "dev_databases/__MACOSX/dev_databases/zoo").mkdir(parents=True)
    assert load_bird(root).databases == root / "dev_databases/dev_databases"


def test_spider_beside_it_is_not_taken_for_bird(tmp_path, tiny):
    tiny.write_spider(tmp_path / "a_spider")
    tiny.write_bird(tmp_path / "bird" / "dev_20240627")
    assert load_bird(tmp_path).databases == tmp_path / "bird/dev_20240627/dev_databases"


def test_two_releases_in_one_folder_are_not_chosen_between(tmp_path, tiny):
    tiny.write_bird(tmp_path / "dev_20240627")
    tiny.write_bird(tmp_path / "dev_20251106")
    with pytest.raises(
        BadInputError, match=r"twice; give one of .*dev_20240627 and .*dev_20251106"
    ):
        load_bird(tmp_path)


def test_another_release_has_another_fingerprint(tmp_path, tiny):
    first = load_bird(tiny.write_bird(tmp_path / "a"))
    again = load_bird(tiny.write_bird(tmp_path / "b"))
    items = tiny.bird_items()
    items[5]["SQL"] += " LIMIT 1"
    other = load_bird(tiny.write_bird(tmp_path / "c", items=items))
    assert first.fingerprint() == again.fingerprint() != other.fingerprint()


def without(name):
    return lambda items: items[4].pop(name)


def setting(name, value):
    return lambda items: items[4].update({name: value})


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (without("question"), "dev.json, item 4: no text field question"),
        (without("SQL"), "dev.json, item 4: no text field SQL"),
        (without("db_id"), "dev.json, item 4: no text field db_id"),
        (
            setting("question", " "),
            "dev.json, item 4 (question 4): question is empty; write its text",
        ),
        (setting("SQL", ""), "dev.json, item 4 (question 4): SQL is empty"),
        (setting("db_id", ""), "dev.json, item 4 (question 4): db_id is empty"),
        (setting("SQL", 5), "dev.json, item 4: no text field SQL"),
        (setting("evidence", ["a"]), "dev.json, item 4: no text field evidence"),
        (setting("difficulty", 3), "dev.json, item 4: no text field difficulty"),
        (setting("question_id", 2), "dev.json, item 4: question_id 2 occurs twice"),
        (setting("question_id", "2"), "dev.json, item 4: question_id 2 occurs twice"),
        (setting("question_id", None), "dev.json, item 4: question_id is None; it must be"),
        (setting("question_id", True), "dev.json, item 4: question_id is True; it must be"),
        (lambda items: items.insert(4, "text"), "dev.json, item 4: not an object but 'text'"),
        (list.clear, "expected a list with an object for each item, and found nothing"),
    ],
)
def test_a_file_that_is_not_birds_is_one_line(tmp_path, tiny, change, line):
    items = tiny.bird_items()
    change(items)
    with pytest.raises(BadInputError) as caught:
        load_bird(tiny.write_bird(tmp_path / "dev", items=items))
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_evidence_and_difficulty_may_be_null(tmp_path, tiny):
    items = [item | {"evidence": None, "difficulty": None} for item in tiny.bird_items()]
    benchmark = load_bird(tiny.write_bird(tmp_path / "dev", items=items))
    assert {question.evidence for question in benchmark.questions} == {""}


@pytest.mark.parametrize("text", ["", "[{", '{"a": 1}', "\0\0", "5"])
def test_a_file_that_is_no_list_of_json_is_one_line(tmp_path, tiny, text):
    root = tiny.write_bird(tmp_path / "dev")
    (root / "dev.json").write_text(text)
    with pytest.raises(BadInputError, match=r"dev\.json: (not JSON|expected a list)"):
        load_bird(root)


def test_what_is_missing_is_named_with_what_to_do(tmp_path, tiny):
    with pytest.raises(BadInputError, match="no such folder; give the one where BIRD's bird-dev"):
        load_bird(tmp_path / "nowhere")
    with pytest.raises(BadInputError, match=r"no dev\.json in .* unpack BIRD's bird-dev there"):
        load_bird(tmp_path)
    (tmp_path / "dev.json").write_text(json.dumps(tiny.bird_items()))
    with pytest.raises(BadInputError, match="has no folder dev_databases with databases beside it"):
        load_bird(tmp_path)
    with pytest.raises(BadInputError, match="no benchmark 'bird-test'; there are bird-dev"):
        open_benchmark("bird-test", tmp_path)


@pytest.fixture
def benchmark(tmp_path, tiny):
    return load_bird(tiny.write_bird(tmp_path / "dev"))


def test_a_database_is_the_file_of_its_name(benchmark):
    assert benchmark.database("zoo") == benchmark.databases / "zoo/zoo.sqlite"


def test_a_missing_database_is_named(benchmark):
    with pytest.raises(BadInputError, match=r"no database farm: expected farm/farm\.sqlite in"):
        benchmark.database("farm")


TRICKS = [
    "../x",
    "a/b",
    "",
    ".",
    "..",
    "...",
    "/etc/passwd",
    "a" * 200,
    "zoo/../zoo",
    "a\\b",
    "zoo\n",
]


@pytest.mark.parametrize("db_id", [*TRICKS, "zoo\0", "żoo", " zoo", "~"])
def test_a_db_id_that_is_no_plain_name_never_becomes_a_path(benchmark, db_id):
    with pytest.raises(BadInputError, match=r"letters, digits, '_', '-' and '\.' only"):
        benchmark.database(db_id)


@pytest.mark.parametrize("link", ["folder", "file"])
def test_a_link_out_of_the_folder_of_databases_is_not_followed(benchmark, tmp_path, tiny, link):
    tiny.write_databases(tmp_path / "elsewhere")
    inside, outside = benchmark.databases / "out", tmp_path / "elsewhere/zoo"
    if link == "folder":
        (outside / "zoo.sqlite").rename(outside / "out.sqlite")
        inside.symlink_to(outside)
    else:
        inside.mkdir()
        (inside / "out.sqlite").symlink_to(outside / "zoo.sqlite")
    with pytest.raises(BadInputError, match="database out: a link leads out of"):
        benchmark.database("out")


def test_the_folder_of_databases_may_itself_be_a_link(tmp_path, tiny):
    tiny.write_bird(tmp_path / "disk")
    (tmp_path / "dev").mkdir()
    for name in ("dev.json", "dev_databases"):
        (tmp_path / "dev" / name).symlink_to(tmp_path / "disk" / name)
    assert load_bird(tmp_path / "dev").database("zoo").is_file()
