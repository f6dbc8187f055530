"""Prediction files in the forms of BIRD, of Spider, of JSON lines and of CSV; a file that does not fit is refused."""

import json
import random

import pandas as pd
import pytest

from workbench.benchmarks.benchmark import open_benchmark
from workbench.benchmarks.predictions import (
    COLUMNS,
    read_predictions,
    write_predictions,
)
from workbench.errors import BadInputError


@pytest.fixture
def bird(tmp_path, tiny):
    return open_benchmark("bird", tiny.write_bird(tmp_path / "bird"))


@pytest.fixture
def mini(tmp_path, tiny):
    items = tiny.bird_items(tiny.sparse)
    root = tiny.write_bird(tmp_path / "mini", "mini_dev_sqlite.json", items=items)
    return open_benchmark("mini-dev", root)


@pytest.fixture
def spider(tmp_path, tiny):
    return open_benchmark("spider", tiny.write_spider(tmp_path / "spider"))


@pytest.fixture
def read(tmp_path):
    """Reads a file with this content; returns the SQL by question id."""

    def read(benchmark, content, name="theirs.json"):
        path = tmp_path / name
        content = content if isinstance(content, str | bytes) else json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_predictions(benchmark, path)

    return read


def by_id(frame):
    return dict(zip(frame["question_id"], frame["sql"], strict=True))


def golds(benchmark):
    return {key: gold.sql for key, gold in benchmark.golds.items()}


def bird_form(benchmark, keys=None, mark="\t----- bird -----\t"):
    asked = zip(
        keys or [q.id for q in benchmark.questions], benchmark.questions, strict=True
    )
    return {str(key): f"{benchmark.golds[q.id].sql}{mark}{q.db_id}" for key, q in asked}


def spider_form(benchmark, *, db_ids=True):
    rows = [(benchmark.golds[q.id].sql, q.db_id) for q in benchmark.questions]
    return [f"{sql}\t{db_id}" if db_ids else sql for sql, db_id in rows]


def test_birds_json_pairs_by_key_in_whatever_order_it_was_written(bird, mini, read):
    for benchmark in (bird, mini):
        entries = list(bird_form(benchmark).items())
        random.Random(1).shuffle(entries)
        found = read(benchmark, dict(entries[:7]))
        assert list(found.columns) == COLUMNS
        assert set(found["generator"]) == {"theirs"}
        assert by_id(found) == {key: golds(benchmark)[key] for key, _ in entries[:7]}


def test_keys_that_are_positions_pair_by_position_if_all_are(mini, read):
    assert by_id(read(mini, bird_form(mini, range(12)))) == golds(mini)
    some = dict(list(bird_form(mini, range(12)).items())[:11])
    with pytest.raises(
        BadInputError, match="entry 1: bird-mini-dev has no question with id '0'"
    ):
        read(mini, some)


def test_an_answer_for_another_question_or_database_is_named(bird, read):
    form = bird_form(bird)
    wrong = {"database 'pond'": form | {"3": form["3"].replace("zoo", "pond")}}
    wrong |= {
        f"no question with id '{key}'": form | {key: "SELECT 1"}
        for key in ("12", "-1", "x")
    }
    wrong[r"'another\?'"] = [
        {"question_id": 3, "question": "another?", "sql": "SELECT 1"}
    ]
    for said, content in wrong.items():
        with pytest.raises(BadInputError, match=rf"entry \d+: .*{said}"):
            read(bird, content)


@pytest.fixture
def doubled(tmp_path, tiny):
    """Two questions have the id 3 in the file, as two have 137 in the first release of mini-dev."""
    items = tiny.bird_items()
    items[7]["question_id"] = 3
    root = tiny.write_bird(tmp_path / "mini", "mini_dev_sqlite.json", items=items)
    with pytest.warns(UserWarning, match="3 became 3 and 3-2"):
        return open_benchmark("mini-dev", root)


def test_an_answer_under_an_id_of_two_questions_is_refused_with_both(doubled, read):
    both = r"'3' is 3 \(zoo, question 3\?\) or 3-2 \(shop, question 3\?\)"
    with pytest.raises(BadInputError, match=f"entry 1: question_id {both}"):
        read(doubled, {"3": "SELECT 1"})
    ours = {"3": "SELECT 1", "3-2": "SELECT 2"}
    assert by_id(read(doubled, ours)) == ours
    told = [{"question_id": 3, "question": "zoo, question 3?", "sql": "SELECT 1"}]
    assert by_id(read(doubled, told)) == {"3": "SELECT 1"}


@pytest.mark.parametrize("form", ["lines", "positions"])
def test_a_position_that_is_also_an_id_of_two_questions_is_a_position(
    tmp_path, tiny, read, form
):
    items = [
        item | {"question_id": key}
        for item, key in zip(tiny.bird_items()[:4], (2, 7, 2, 9), strict=True)
    ]
    root = tiny.write_bird(tmp_path / "mini", "mini_dev_sqlite.json", items=items)
    with pytest.warns(UserWarning, match="2 became 2 and 2-2"):
        benchmark = open_benchmark("mini-dev", root)
    queries = [f"SELECT {number}" for number in range(4)]
    if form == "lines":
        found = read(benchmark, "\n".join(queries), "theirs.sql")
    else:
        found = read(benchmark, dict(enumerate(queries)))
    assert by_id(found) == dict(zip(["2", "7", "2-2", "9"], queries, strict=True))
    with pytest.raises(BadInputError, match=r"question_id '2' is 2 .* or 2-2 .*"):
        read(benchmark, {"2": "SELECT 1"})


def test_the_csv_of_din_sql_is_read(spider, read):
    lines = ["NLQ,PREDICTED SQL,GOLD SQL,DATABASE"]
    lines += [
        f'"{q.text}","SELECT {q.id}","gold",{q.db_id}' for q in spider.questions[::-1]
    ]
    found = read(spider, "\n".join(lines), "din.csv")
    assert by_id(found) == {q.id: f"SELECT {q.id}" for q in spider.questions}


def test_a_list_without_ids_is_paired_by_database_and_text(spider, read):
    entries = [
        {"db_id": q.db_id, "question": q.text, "sql": q.id}
        for q in spider.questions[5:8]
    ]
    assert by_id(read(spider, entries)) == {"5": "5", "6": "6", "7": "7"}
    entries[1]["question"] = "another?"
    with pytest.raises(
        BadInputError,
        match=r"entry 2: .*no question with .*database 'shop' and text 'another\?'",
    ):
        read(spider, entries)


def test_half_a_character_in_an_answer_becomes_a_question_mark(bird, read):
    found = read(bird, '{"0": "SELECT \'\\ud83d\'"}')
    assert by_id(found) == {"0": "SELECT '?'"}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("db_ids", [True, False])
def test_lines_pair_by_position(spider, read, db_ids, end):
    text = end.join(spider_form(spider, db_ids=db_ids)) + end
    assert by_id(read(spider, text, "theirs.sql")) == golds(spider)


@pytest.mark.parametrize("db_ids", [True, False])
def test_a_dropped_line_is_refused_where_it_first_shows(spider, read, db_ids):
    lines = spider_form(spider, db_ids=db_ids)
    for position in range(12):
        given = lines[:position] + lines[position + 1 :]
        # From here on a line answers the next database's question.
        first = position // 4 * 4 + 4
        said = "11 entries for the 12 questions"
        if db_ids and first < 12:
            said = f"entry {first}: it has .*, but question {first - 1} is on "
        with pytest.raises(BadInputError, match=said):
            read(spider, "\n".join(given), "theirs.sql")


def test_a_line_too_many_is_refused(spider, read):
    counts = "theirs.sql: 13 entries for the 12 questions of spider-dev; without ids"
    for db_ids in (True, False):
        lines = [*spider_form(spider, db_ids=db_ids), "SELECT 1"]
        with pytest.raises(BadInputError, match=counts):
            read(spider, "\n".join(lines), "theirs.sql")
    with pytest.raises(BadInputError, match="14 entries for the 12 questions"):
        read(spider, "SELECT 1\n" * 14, "theirs.sql")


def test_a_position_is_not_called_an_id(mini, read):
    lines = spider_form(mini)
    lines[1] = "SELECT 1\tpond"
    said = "entry 2: it has database 'pond' and text '', but question 7 is on 'zoo'"
    with pytest.raises(BadInputError, match=said):
        read(mini, "\n".join(lines), "theirs.sql")


def records(benchmark):
    return [
        {
            "question_id": q.id,
            "sql": benchmark.golds[q.id].sql,
            "sample": n,
            "generator": "g",
        }
        for q in benchmark.questions
        for n in (0, 1)
    ]


@pytest.mark.parametrize(
    "form", ["list", "lines", "csv", "semicolons", "tabs and UTF-16"]
)
def test_records_are_read_with_their_generators_and_samples(bird, read, form):
    given = pd.DataFrame(records(bird))
    content = {
        "list": given.to_json(orient="records"),
        "lines": given.to_json(orient="records", lines=True),
        "csv": given.to_csv(index=False),
        "semicolons": given.to_csv(index=False, sep=";").encode("utf-8-sig"),
        "tabs and UTF-16": given.to_csv(index=False, sep="\t").encode("utf-16"),
    }[form]
    name = {"list": "a.json", "lines": "a.jsonl"}.get(form, "a.csv")
    found = read(bird, content, name)
    assert found["sql"].tolist() == given["sql"].tolist()
    assert found["sample"].tolist() == [0, 1] * 12
    assert set(found["generator"]) == {"g"}


def test_a_file_that_carries_gold_as_well_is_not_judged_by_its_gold(bird, read):
    given = [
        {"question_id": 0, "sql": "gold", "predicted_sql": "SELECT 1", "extra": [1]}
    ]
    assert by_id(read(bird, given)) == {"0": "SELECT 1"}


@pytest.mark.parametrize(
    "sql", ["SELECT 'a,\"b\n;c\u2028d'", "SELECT 'x' /* é */", "=1+1", "'=1+1"]
)
@pytest.mark.parametrize("end", [".json", ".sql", ".jsonl", ".csv"])
def test_what_is_written_is_read_again(bird, tmp_path, sql, end):
    rows = [(q.id, "g", 0, sql, q.db_id) for q in bird.questions]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "db_id"])
    write_predictions(tmp_path / f"g{end}", frame)
    found = read_predictions(bird, tmp_path / f"g{end}")
    if end in {".json", ".sql"}:  # one line for each answer
        frame["sql"] = sql.replace("\n", " ")
    if end == ".csv":
        assert not any(
            line.startswith("=") for line in (tmp_path / "g.csv").read_text().split(",")
        )
    pd.testing.assert_frame_equal(found, frame[COLUMNS], check_dtype=False)
    if end in {".json", ".sql"}:
        for wrong in (pd.concat([frame, frame]), frame[COLUMNS]):
            with pytest.raises(BadInputError, match="holds one answer a question"):
                write_predictions(tmp_path / f"g{end}", wrong)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", ""), ("a.json", "[]"), ("a.json", "{}"), ("a.json", "[{"), ("a.json", "5"),
        ("a.json", '["SELECT 1"]'), ("a.json", '[{"sql": "SELECT 1"}]'),
        ("a.json", '[{"question_id": 1}]'), ("a.json", '{"0": {"sql": "SELECT 1"}}'),
        ("a.json", '{"0": "SELECT 1", "0": "SELECT 2"}'), ("a.json", "[" * 100_000),
        ("a.jsonl", '{"question_id": 0, "sql": "SELECT 1"}\n{"question_id"'),
        ("a.json", '[{"question_id": 0, "sql": "SELECT 1", "sample": "one"}]'),
        ("a.json", '[{"question_id": 0, "sql": "SELECT 1", "sample": [1]}]'),
        ("a.csv", "question_id,sql\n"), ("a.csv", 'question_id,sql\n0,"SELECT 1\n'),
        ("a.csv", "question_id,sql\n0\n"), ("a.csv", "question_id,sql\n0,SELECT 1, 2\n"),
        ("a.sql", ""), ("a.sql", b"\xff\xff\x00 SELECT"),
    ],
)  # fmt: skip
def test_what_is_no_file_of_predictions_is_refused(bird, read, name, content):
    with pytest.raises(BadInputError, match="a\\."):
        read(bird, content, name)


def test_a_folder_stands_for_its_files_and_names_are_told_apart(bird, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        content = json.dumps({"question_id": "0", "sql": "SELECT 1", "generator": "g"})
        (tmp_path / folder / "mine.answers.jsonl").write_text(content)
        (tmp_path / folder / "a_table.csv").write_text("a table of the run")
    one = read_predictions(bird, tmp_path / "a")
    assert one["generator"].tolist() == ["g"]
    both = read_predictions(bird, tmp_path / "a", tmp_path / "b")
    assert [name.endswith("mine.answers.jsonl: g") for name in both["generator"]] == [
        True,
        True,
    ]
    assert both["generator"].is_unique
    for paths in (["a", "a"], ["nowhere"], ["bird/dev_databases"]):
        with pytest.raises(BadInputError):
            read_predictions(bird, *(tmp_path / path for path in paths))


# The files of thirty systems


def test_the_real_files_load_with_and_without_their_db_ids(real_spider, tmp_path):
    benchmark = open_benchmark("spider", real_spider)
    found = read_predictions(benchmark, real_spider / "predictions")
    assert (len(found), found["generator"].nunique()) == (30 * 471, 30)
    for path in sorted((real_spider / "predictions").iterdir()):
        lines = path.read_text("utf-8").split("\n")
        bare = tmp_path / path.name
        bare.write_text("\n".join(line.rpartition("\t")[0] for line in lines[:471]))
        again = read_predictions(benchmark, bare)
        assert (
            again["sql"].tolist()
            == found.loc[found["generator"] == path.stem, "sql"].tolist()
        )
        bare.write_text("\n".join(lines[:100] + lines[101:471]))
        with pytest.raises(BadInputError, match=r", entry 1\d\d: it has .*database"):
            read_predictions(benchmark, bare)
