"""BIRD, Spider and a user's own file as they unpack, and every way in which a folder can be something else."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from workbench.benchmarks.benchmark import _Item, open_benchmark, size, some
from workbench.benchmarks.check import missing
from workbench.benchmarks.files import read_items
from workbench.errors import BadInputError
from workbench.types import Gold, Question

BIRD_DEV = {
    "california_schools": 89, "card_games": 191, "codebase_community": 186, "debit_card_specializing": 64,
    "european_football_2": 129, "financial": 106, "formula_1": 174, "student_club": 158, "superhero": 129,
    "thrombosis_prediction": 163, "toxicology": 145,
}  # fmt: skip
QUESTIONS = [
    Question(f"{db}{n}", db, "") for db, count in BIRD_DEV.items() for n in range(count)
]


def test_an_item_becomes_a_question_and_apart_from_it_a_gold(tmp_path, tiny):
    bird = open_benchmark("bird", tiny.write_bird(tmp_path / "dev"))
    assert bird.questions[2] == Question("2", "zoo", "zoo, question 2?", "hint 2")
    assert bird.golds["2"] == Gold(
        "2", "SELECT name FROM animal WHERE legs = 4", "challenging"
    )
    spider = open_benchmark("spider", tiny.write_spider(tmp_path / "spider"))
    assert (spider.name, spider.sense) == ("spider-dev", "spider")
    assert spider.questions[11] == Question("11", "pond", "pond, question 3?")
    assert spider.golds["11"] == Gold("11", "SELECT kind FROM fish WHERE grams > 1000")


def test_ids_are_the_items_or_else_their_positions(tmp_path, tiny):
    sparse = tiny.write_bird(
        tmp_path / "m", "mini_dev_sqlite.json", items=tiny.bird_items(tiny.sparse)
    )
    found = open_benchmark("mini-dev", sparse).questions
    assert [question.id for question in found] == [str(key) for key in tiny.sparse]
    names = ("db_id", "question", "evidence", "SQL")
    items = [{name: item[name] for name in names} for item in tiny.bird_items()]
    root = tiny.write_bird(tmp_path / "train", "train.json", "train_databases", items)
    found = open_benchmark("bird-train", root).questions
    assert [question.id for question in found] == [str(n) for n in range(12)]


def test_chesss_sample_of_bird_dev_has_its_147_published_ids(tmp_path, tiny):
    items = [tiny.bird_items()[n % 12] | {"question_id": n} for n in range(1534)]
    sample = open_benchmark("bird-sds", tiny.write_bird(tmp_path / "dev", items=items))
    ids = [int(question.id) for question in sample.questions]
    assert (sample.name, len(ids), ids == sorted(ids)) == ("bird-sds", 147, True)
    assert ids[:3] == [9, 21, 25]
    assert len(sample.every) == 1534
    with pytest.raises(BadInputError, match="lacks 146 of the 147 questions"):
        open_benchmark("bird-sds", tiny.write_bird(tmp_path / "other"))


def test_the_right_folder_is_found_among_others(tmp_path, tiny):
    root = tiny.write_bird(tmp_path / "dev", databases="dev_databases/dev_databases")
    (root / "dev_databases/__MACOSX/dev_databases/zoo").mkdir(parents=True)
    assert (
        open_benchmark("bird", root).databases == root / "dev_databases/dev_databases"
    )
    shutil.rmtree(root)
    tiny.write_spider(tmp_path / "a_spider")
    tiny.write_spider(tmp_path / "a_spider" / "test_data")
    inside = tiny.write_bird(tmp_path / "bird" / "dev_20240627")
    for root in (inside, inside.parent, inside.parent.parent):
        assert open_benchmark("bird", root).databases == inside / "dev_databases"
    spider = open_benchmark("spider", tmp_path)
    assert spider.databases == tmp_path / "a_spider/database"
    tiny.write_bird(tmp_path / "bird" / "dev_20251106")
    with pytest.raises(BadInputError, match=r"twice; give one of .*0627 and .*1106"):
        open_benchmark("bird", tmp_path)


def without(name):
    return lambda items: items[4].pop(name)


def setting(name, value):
    return lambda items: items[4].update({name: value})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        *((without(name), name) for name in ("question", "SQL", "db_id")),
        *((setting(name, " "), name) for name in ("question", "SQL", "db_id")),
        (setting("SQL", 5), "SQL"),
        (setting("evidence", ["a"]), "evidence"),
        (setting("difficulty", 3), "difficulty"),
        (setting("question_id", [1]), "question_id"),
    ],
)
def test_a_wrong_item_is_named_with_its_field_in_one_line(
    tmp_path, tiny, change, field
):
    items = tiny.bird_items()
    change(items)
    with pytest.raises(BadInputError, match=rf"dev\.json, item 4: .*{field}") as caught:
        open_benchmark("bird", tiny.write_bird(tmp_path / "dev", items=items))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"[{",
        b'{"a": 1}',
        b"\0\0",
        b"5",
        b'["text"]',
        '["é"]'.encode("latin-1"),
    ],
)
def test_a_file_that_is_no_list_of_objects_is_refused(tmp_path, tiny, content):
    (tiny.write_bird(tmp_path) / "dev.json").write_bytes(content)
    with pytest.raises(BadInputError, match=r"dev\.json"):
        open_benchmark("bird", tmp_path)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"db_id": "zoo",', "line 4, column 17: not JSON"),
        (
            '{"db_id": "zoo", "db_id": "zoo"}',
            "line 4: not JSON: one object has a key twice",
        ),
        ('{"db_id": "zoo", "question": " ", "SQL": "SELECT 1"}', "line 4: question: "),
        ("[]", "line 4: not an object"),
    ],
)
def test_a_wrong_line_of_json_lines_is_named_by_its_number(tmp_path, line, told):
    path = tmp_path / "mine.jsonl"
    item = {"db_id": "zoo", "question": "Which?", "SQL": "SELECT 1"}
    path.write_text(
        f"{json.dumps(item)}\n\n{json.dumps(item)}\n{line}\n{json.dumps(item)}\n"
    )
    with pytest.raises(BadInputError, match=rf"mine\.jsonl, (from )?{told}") as caught:
        read_items(path, _Item)
    assert "list" not in str(caught.value)  # the file is right in its form


def test_spiders_train_split_is_both_files_with_the_ids_of_the_first_unchanged(
    tmp_path, tiny
):
    root = tiny.write_spider(tmp_path, "train_spider.json")
    with pytest.raises(BadInputError, match=r"train_others\.json: No such file"):
        open_benchmark("spider-train", root)
    others = [
        item | {"question": "from another dataset"} for item in tiny.spider_items()[:5]
    ]
    (root / "train_others.json").write_text(json.dumps(others))
    texts = [
        question.text for question in open_benchmark("spider-train", root).questions
    ]
    assert (len(texts), texts.index("from another dataset")) == (17, 12)


@pytest.mark.parametrize("tables", ["tables.json", "test_tables.json"])
def test_spiders_test_split_has_databases_of_its_own(tmp_path, tiny, tables):
    tiny.write_spider(tmp_path)  # the dev split beside it
    root = tiny.write_spider(tmp_path / "of_test", "test.json", "test_database")
    for source in (root / "test.json", root / "test_database"):
        source.rename(tmp_path / source.name)
    (root / "tables.json").rename(tmp_path / tables)
    # That of train and dev does not describe the test databases.
    if tables != "tables.json":
        (tmp_path / "tables.json").write_text("[]")
    benchmark = open_benchmark("spider-test", tmp_path)
    assert benchmark.database("pond") == tmp_path / "test_database/pond/pond.sqlite"
    assert set(benchmark.schemas) == {"zoo", "shop", "pond"}


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: entry.pop("db_id"),
        lambda entry: entry.pop("foreign_keys"),
        lambda entry: entry.update(foreign_keys=[[1, 99]]),
        lambda entry: entry.update(foreign_keys=[[1, 0]]),  # column 0 is `*`
        lambda entry: entry.update(foreign_keys=[[0, 1]]),
        lambda entry: entry.update(foreign_keys=[[1, -1]]),
        lambda entry: entry.update(foreign_keys=[[-1, 1]]),
        lambda entry: entry.update(
            column_names_original=[*entry["column_names_original"], [-1, "z"]],
            foreign_keys=[[1, len(entry["column_names_original"])]],
        ),
        lambda entry: entry.update(
            column_names_original=[*entry["column_names_original"], [-1, "z"]],
            foreign_keys=[[len(entry["column_names_original"]), 1]],
        ),
        lambda entry: entry["column_names_original"].append([7, "of no table"]),
        lambda entry: entry.update(column_names_original=5),
    ],
)
def test_a_damaged_schema_is_named(tmp_path, tiny, damage):
    root = tiny.write_spider(tmp_path)
    tables = tiny.tables_json()
    damage(tables[1])
    (root / "tables.json").write_text(json.dumps(tables))
    with pytest.raises(BadInputError, match=r"tables\.json, item 1: "):
        open_benchmark("spider", root)
    (root / "tables.json").write_text(json.dumps(tables[:1]))
    with pytest.raises(
        BadInputError, match=r"tables\.json does not describe pond, shop"
    ):
        open_benchmark("spider", root)


def test_a_database_that_tables_json_describes_twice_is_refused(tmp_path, tiny):
    root = tiny.write_spider(tmp_path)
    tables = tiny.tables_json()
    (root / "tables.json").write_text(json.dumps([*tables, tables[1]]))
    told = f"tables.json, item {len(tables)}: '{tables[1]['db_id']}' is described"
    with pytest.raises(BadInputError, match=told):
        open_benchmark("spider", root)


def test_a_file_of_ones_own_is_in_birds_or_in_spiders_form(tmp_path, tiny):
    tiny.write_databases(tmp_path / "data" / "databases")
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(tiny.bird_items(tiny.sparse)))
    own = open_benchmark(str(path), tmp_path / "data")
    assert (own.name, own.sense, own.questions[2].id) == ("mine", "bird", "20")
    path.write_text(
        json.dumps([*tiny.spider_items(), tiny.spider_items()[0] | {"db_id": "moon"}])
    )
    with pytest.warns(
        UserWarning, match="mine: 1 of 13 questions are left out.* no database moon"
    ):
        own = open_benchmark(str(path), tmp_path / "data" / "databases")
    assert (own.sense, len(own.questions), len(own.every)) == ("spider", 12, 13)
    with pytest.raises(BadInputError, match=r"no database moon, pond.* give --root"):
        open_benchmark(str(path), tmp_path / "data" / "databases" / "zoo")


def test_ids_that_a_file_gives_twice_get_a_suffix_and_are_told_once(tmp_path, tiny):
    items = tiny.bird_items()
    items[7]["question_id"] = items[8]["question_id"] = 3
    root = tiny.write_bird(tmp_path, "mini_dev_sqlite.json", items=items)
    with pytest.warns(UserWarning, match="3 became 3 and 3-2 and 3-3") as told:
        mini = open_benchmark("mini-dev", root)
    assert len(told) == 1
    asked = {question.id: question.text for question in mini.questions}
    assert asked["3-2"] == "shop, question 3?"
    assert list(mini.golds) == [
        "0",
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
        "3-2",
        "3-3",
        "9",
        "10",
        "11",
    ]


def test_a_file_of_ones_own_is_judged_by_exact_match_where_tables_json_is_beside_it(
    tmp_path, tiny
):
    root = tiny.write_spider(tmp_path / "spider")
    path = tmp_path / "dk.json"
    path.write_text(json.dumps(tiny.spider_items()))
    assert set(open_benchmark(str(path), root).schemas) == {"zoo", "shop", "pond"}
    (root / "tables.json").rename(tmp_path / "tables.json")
    assert set(open_benchmark(str(path), root / "database").schemas) == {
        "zoo",
        "shop",
        "pond",
    }
    (tmp_path / "tables.json").write_text(json.dumps(tiny.tables_json()[:1]))
    with pytest.warns(
        UserWarning, match="does not describe pond, shop: no exact match for dk"
    ):
        assert open_benchmark(str(path), root / "database").schemas == {}


def test_an_item_may_have_several_queries_and_the_fingerprint_tells(tmp_path, tiny):
    items = tiny.bird_items()
    before = open_benchmark("bird", tiny.write_bird(tmp_path / "one", items=items))
    items[0]["SQL"] = [items[0]["SQL"], "SELECT 4"]
    after = open_benchmark("bird", tiny.write_bird(tmp_path / "two", items=items))
    assert after.golds["0"].queries == (before.golds["0"].sql, "SELECT 4")
    assert after.fingerprint() != before.fingerprint()
    # That of one query each is as it was before there were other answers.
    assert before.fingerprint().startswith("questions:bf925ba2f814")


@pytest.fixture
def benchmark(tmp_path, tiny):
    return open_benchmark("bird", tiny.write_bird(tmp_path / "dev"))


@pytest.mark.parametrize(
    "db_id",
    ["../x", "a/b", "", ".", "..", "...", "/etc/passwd", "a" * 200, "zoo/../zoo", "a\\b", "zoo\n",
     "zoo\0", "żoo", " zoo", "~"],
)  # fmt: skip
def test_a_db_id_that_is_no_plain_name_never_becomes_a_path(benchmark, db_id):
    with pytest.raises(BadInputError, match=r"letters, digits, '_', '-' and '\.' only"):
        benchmark.database(db_id)


@pytest.mark.parametrize("link", ["folder", "file"])
def test_a_link_out_of_the_folder_of_databases_is_not_followed(
    benchmark, tmp_path, tiny, link
):
    tiny.write_databases(tmp_path / "elsewhere")
    inside, outside = benchmark.databases / "out", tmp_path / "elsewhere/zoo"
    if link == "folder":
        (outside / "zoo.sqlite").rename(outside / "out.sqlite")
        inside.symlink_to(outside)
    else:
        inside.mkdir()
        (inside / "out.sqlite").symlink_to(outside / "zoo.sqlite")
    with pytest.raises(BadInputError, match="no link out of it"):
        benchmark.database("out")
    with pytest.raises(
        BadInputError, match=r"no database 'farm': expected farm/farm\.sqlite in"
    ):
        benchmark.database("farm")


# Limits


def test_a_tenth_of_each_database_of_bird_dev_is_as_large_as_chess_s_sample():
    drawn = some(QUESTIONS, 0.1)
    assert len(drawn) == 147
    assert Counter(q.db_id for q in drawn) == {
        db: n // 10 for db, n in BIRD_DEV.items()
    }
    assert drawn == sorted(drawn, key=QUESTIONS.index) == some(QUESTIONS, 0.1)


def test_the_draw_is_the_same_everywhere():
    assert [QUESTIONS.index(q) for q in some(QUESTIONS, 5)] == [0, 306, 613, 920, 1227]
    questions = open_benchmark("bundled").questions
    assert {q.db_id for q in some(questions, 0.001)} == {q.db_id for q in questions}
    assert [size(1534, limit) for limit in (None, 20, 5000, 0.1)] == [
        1534,
        20,
        1534,
        153,
    ]


def test_what_a_folder_lacks_of_a_benchmark_is_named(tmp_path, tiny):
    tiny.write_bird(tmp_path / "bird")
    spider = tiny.write_spider(tmp_path / "spider")
    (spider / "database/pond/pond.sqlite").unlink()
    few = "12 of 1,534 questions"
    bare = "no database_description of pond, shop, zoo"
    assert missing("bird-dev", tmp_path) == [few, bare]
    for db_id in ("pond", "shop", "zoo"):
        (tmp_path / "bird/dev_databases" / db_id / "database_description").mkdir()
    assert missing("bird-dev", tmp_path) == [few]
    left_out, too_few = missing("spider-dev", tmp_path)
    assert "is no database pond" in left_out
    assert too_few == "12 of 1,034 questions"
    (spider / "tables.json").unlink()
    assert "tables.json: No such file" in missing("spider-dev", tmp_path)[0]
    assert "no train.json with databases" in missing("bird-train", tmp_path)[0]


@pytest.mark.parametrize("folder", [".", "of_mine", "dev_databases/dev_databases"])
def test_the_databases_beside_a_file_of_ones_own_are_found(tiny, tmp_path, folder):
    root = tmp_path / "mine"
    tiny.write_bird(root, file="mine.json", databases=folder)
    tiny.write_databases(root / "a_copy/of_others")  # too far below
    (root / "a/moon").mkdir(parents=True)
    (root / "a/moon/moon.sqlite").touch()  # of no question
    own = open_benchmark(str(root / "mine.json"))
    assert (len(own.questions), own.databases) == (12, root / folder)
    for db_id in ("zoo", "shop", "pond"):
        (root / folder / db_id).rename(tmp_path / db_id)
    with pytest.raises(BadInputError, match=r"no database pond, shop.* give --root"):
        open_benchmark(str(root / "mine.json"))


@pytest.fixture
def mine(tmp_path, tiny):
    """A file of one's own, with all its databases beside it, in the later of two folders."""
    root = tiny.write_bird(tmp_path / "mine", file="mine.json")
    tiny.write_databases(root / "backup")
    for db_id in ("shop", "pond"):
        shutil.rmtree(root / "backup" / db_id)
    return root / "mine.json"


def test_the_folder_with_all_databases_is_taken_and_not_the_first(mine):
    own = open_benchmark(str(mine))
    assert (len(own.questions), own.databases.name) == (12, "dev_databases")


def test_of_two_folders_with_all_databases_none_is_taken(mine, tiny):
    shutil.rmtree(mine.parent / "backup")
    tiny.write_databases(mine.parent / "backup")
    both = r"mine/backup and .*mine/dev_databases have 3 .* give --root"
    with pytest.raises(BadInputError, match=both):
        open_benchmark(str(mine))
    with pytest.raises(BadInputError, match=both):
        open_benchmark(str(mine), mine.parent)
    for folder in ("backup", "dev_databases"):
        own = open_benchmark(str(mine), mine.parent / folder)
        assert (len(own.questions), own.databases.name) == (12, folder)


def test_without_a_folder_with_all_databases_the_one_with_most_is_taken(mine):
    folder = mine.parent / "dev_databases"
    shutil.rmtree(folder / "pond")
    with pytest.warns(UserWarning, match="4 of 12 .* is no database pond"):
        assert open_benchmark(str(mine)).databases == folder
    shutil.rmtree(folder / "zoo")
    with pytest.raises(BadInputError, match=r"backup and .*dev_databases have 1 "):
        open_benchmark(str(mine))


def test_a_folder_given_is_taken_if_none_in_it_has_more(mine):
    folder = mine.parent / "dev_databases"
    shutil.copytree(folder / "zoo", folder / "old/zoo")
    shutil.copytree(folder / "shop", folder / "old/shop")
    assert open_benchmark(str(mine), folder).databases == folder
    shutil.rmtree(folder / "pond")
    with pytest.warns(UserWarning, match="is no database pond"):
        assert open_benchmark(str(mine), folder).databases == folder
    shutil.rmtree(folder / "zoo")
    with pytest.warns(UserWarning, match="is no database pond"):
        assert open_benchmark(str(mine), folder).databases == folder / "old"


def test_a_folder_that_may_not_be_read_has_no_databases(mine, monkeypatch):
    stat = Path.stat

    def refusing(path, **options):
        if "backup" in path.parts:
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", refusing)
    assert open_benchmark(str(mine)).databases.name == "dev_databases"
