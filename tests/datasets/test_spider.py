"""Spider as its archive unpacks."""

import json

import pytest

from workbench.benchmarks.named import open_benchmark
from workbench.benchmarks.spider import load_spider, schema_from_tables_json
from workbench.errors import BadInputError
from workbench.types import Column, ForeignKey, Gold, Question


def test_an_items_position_is_its_id(tmp_path, tiny):
    benchmark = load_spider(tiny.write_spider(tmp_path / "spider"))
    assert (benchmark.name, benchmark.sense) == ("spider-dev", "spider")
    assert benchmark.questions[11] == Question("11", "pond", "pond, question 3?")
    assert benchmark.golds["11"] == Gold("11", "SELECT kind FROM fish WHERE grams > 1000")


def test_it_is_found_from_the_folder_above_and_not_in_the_test_data_beside_it(tmp_path, tiny):
    tiny.write_spider(tmp_path / "spider_data")
    tiny.write_spider(tmp_path / "spider_data" / "test_data")
    assert load_spider(tmp_path).databases == tmp_path / "spider_data/database"


def test_the_train_split_is_both_files_with_the_ids_of_the_first_unchanged(tmp_path, tiny):
    root = tiny.write_spider(tmp_path, "train_spider.json")
    others = [item | {"question": "from another dataset"} for item in tiny.spider_items()[:5]]
    (root / "train_others.json").write_text(json.dumps(others))
    benchmark = open_benchmark("spider-train", root)
    assert [question.id for question in benchmark.questions] == [str(n) for n in range(17)]
    assert [question.text for question in benchmark.questions].index("from another dataset") == 12


@pytest.mark.parametrize("tables", ["tables.json", "test_tables.json"])
def test_the_test_split_has_databases_of_its_own(tmp_path, tiny, tables):
    tiny.write_spider(tmp_path)  # the dev split beside it
    root = tiny.write_spider(tmp_path / "of_test", "test.json", "test_database")
    for source in (root / "test.json", root / "test_database"):
        source.rename(tmp_path / source.name)
    (root / "tables.json").rename(tmp_path / tables)
    if tables != "tables.json":  # that of train and dev does not describe the test databases
        (tmp_path / "tables.json").write_text("[]")
    benchmark = open_benchmark("spider-test", tmp_path)
    assert (benchmark.name, benchmark.sense) == ("spider-test", "spider")
    assert benchmark.database("pond") == tmp_path / "test_database/pond/pond.sqlite"
    assert len(benchmark.questions) == 12
    assert set(benchmark.schemas) == {"zoo", "shop", "pond"}


def test_half_a_train_split_is_refused(tmp_path, tiny):
    root = tiny.write_spider(tmp_path, "train_spider.json")
    with pytest.raises(BadInputError, match=r"train_others\.json: No such file"):
        open_benchmark("spider-train", root)


def test_what_is_missing_is_named(tmp_path, tiny):
    root = tiny.write_spider(tmp_path)
    with pytest.raises(BadInputError, match=r"Spider's spider-test: no test\.json in"):
        open_benchmark("spider-test", root)
    (root / "tables.json").unlink()
    with pytest.raises(BadInputError, match=r"tables\.json: No such file"):
        load_spider(root)
    (root / "dev.json").unlink()
    with pytest.raises(BadInputError, match=r"no dev\.json in"):
        load_spider(root)


@pytest.mark.parametrize("name", ["db_id", "question", "query"])
def test_an_item_without_a_field_is_named(tmp_path, tiny, name):
    items = tiny.spider_items()
    del items[7][name]
    root = tiny.write_spider(tmp_path)
    (root / "dev.json").write_text(json.dumps(items))
    with pytest.raises(BadInputError, match=rf"dev\.json, item 7: no text field {name}"):
        load_spider(root)


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: entry.pop("db_id"),
        lambda entry: entry.pop("foreign_keys"),
        lambda entry: entry.update(foreign_keys=[[1, 99]]),
        lambda entry: entry.update(primary_keys=[99]),
        lambda entry: entry.update(column_types=["text"]),
        lambda entry: entry.update(column_names_original=5),
    ],
)
def test_a_damaged_schema_is_named(tmp_path, tiny, damage):
    root = tiny.write_spider(tmp_path)
    tables = tiny.tables_json()
    damage(tables[1])
    (root / "tables.json").write_text(json.dumps(tables))
    with pytest.raises(BadInputError, match=r"tables\.json, item 1: not a schema in Spider"):
        load_spider(root)


def test_a_database_that_tables_json_does_not_describe_is_named(tmp_path, tiny):
    root = tiny.write_spider(tmp_path)
    (root / "tables.json").write_text(json.dumps(tiny.tables_json()[:1]))
    with pytest.raises(BadInputError, match=r"tables\.json does not describe pond, shop"):
        load_spider(root)


def test_a_schema_has_its_keys_and_not_the_star():
    schema = schema_from_tables_json(
        {
            "db_id": "lib",
            "table_names_original": ["Author", "Wrote"],
            "column_names_original": [[-1, "*"], [0, "Id"], [1, "Author_Id"], [1, "Book"]],
            "column_types": ["text", "number", "number", "text"],
            "primary_keys": [1, [2, 3]],
            "foreign_keys": [[2, 1]],
        }
    )
    author, wrote = schema.tables
    assert author.columns == (Column("Id", "number"),)
    assert (author.primary_key, wrote.primary_key) == (("Id",), ("Author_Id", "Book"))
    assert wrote.foreign_keys == (ForeignKey(("Author_Id",), "Author", ("Id",)),)


def test_the_real_dev_set_loads(real_spider):
    benchmark = load_spider(real_spider)
    assert len(benchmark.questions) == 471
    assert all(benchmark.database(db_id).is_file() for db_id in benchmark.schemas)
