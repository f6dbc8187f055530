"""Prediction files of every format: paired by id, or refused with the first line that does not fit."""

import csv
import json
import random

import pytest

from workbench.benchmarks.bird import load_bird
from workbench.benchmarks.named import open_benchmark
from workbench.benchmarks.predictions import load_pool, load_predictions, prediction_files
from workbench.benchmarks.spider import load_spider
from workbench.errors import BadInputError, MisalignedError
from workbench.pool import pool_of
from workbench.types import Candidate, Trial

SEPARATOR = "\t----- bird -----\t"


@pytest.fixture(scope="module")
def bird(tmp_path_factory, tiny):
    return load_bird(tiny.write_bird(tmp_path_factory.mktemp("bird")))


@pytest.fixture(scope="module")
def mini(tmp_path_factory, tiny):
    root = tmp_path_factory.mktemp("mini")
    items = tiny.bird_items(tiny.sparse)
    return open_benchmark(
        "bird-mini-dev", tiny.write_bird(root, "mini_dev_sqlite.json", items=items)
    )


@pytest.fixture(scope="module")
def spider(tmp_path_factory, tiny):
    return load_spider(tiny.write_spider(tmp_path_factory.mktemp("spider")))


@pytest.fixture(scope="module")
def lines(tiny):
    """Spider's lines, each with its db_id."""
    return [f"{sql}\t{db_id}" for db_id, _, sql in tiny.items]


@pytest.fixture(scope="module")
def bare(tiny):
    return list(tiny.gold)


@pytest.fixture
def load(tmp_path):
    """Write a text (or what goes into JSON) to a file and load it: SQL by question id."""

    def load(benchmark, content, name="system.txt"):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            path.write_bytes(text.encode())
        pool = load_predictions(path, benchmark)
        return {
            key: trials[0].candidate.sql if len(trials) == 1 else [t.candidate.sql for t in trials]
            for key, trials in pool.trials.items()
        }

    return load


@pytest.fixture
def refusal(load):
    """The one line with which a file is refused."""

    def refusal(benchmark, content, name="system.txt"):
        with pytest.raises(BadInputError) as caught:
            load(benchmark, content, name)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return refusal


def gold(benchmark):
    return {question.id: benchmark.golds[question.id].sql for question in benchmark.questions}


# BIRD's JSON


@pytest.mark.parametrize("order", [sorted, list, lambda keys: random.Random(1).sample(keys, 12)])
def test_birds_json_pairs_by_key_in_whatever_order_it_was_written(bird, load, order):
    content = {
        key: gold(bird)[key] + SEPARATOR + bird.questions[int(key)].db_id
        for key in order([str(n) for n in range(12)])
    }
    assert load(bird, content) == gold(bird)


def test_birds_json_may_leave_the_separator_and_questions_out(bird, load):
    assert load(bird, {"7": "SELECT 1", "3": "SELECT 2 "}) == {"7": "SELECT 1", "3": "SELECT 2"}


def test_sparse_ids_pair_by_id(mini, load):
    assert load(mini, gold(mini)) == gold(mini)


def test_keys_that_are_positions_pair_by_position_if_the_databases_confirm_it(mini, load, bare):
    keys = sorted(str(n) for n in range(12))
    content = {key: bare[int(key)] + SEPARATOR + mini.questions[int(key)].db_id for key in keys}
    assert load(mini, content) == gold(mini)


def test_keys_that_may_be_positions_are_refused_if_no_field_confirms_them(mini, refusal, bare):
    content = {str(n): sql for n, sql in enumerate(bare)}
    assert "entry '0': given by its position, with no db_id or question" in refusal(mini, content)


def test_keys_that_are_only_some_positions_are_refused(mini, refusal):
    content = {str(n): f"SELECT {n}{SEPARATOR}zoo" for n in range(4)}
    assert "entry '0': bird-mini-dev has no question '0'" in refusal(mini, content)


@pytest.mark.parametrize("key", ["99", "", "a", "²", "9" * 5000, "\ud83d"])
def test_a_key_of_another_benchmark_is_named(bird, refusal, key):
    assert f"bird-dev has no question {key!r}" in refusal(bird, gold(bird) | {key: "x"})


def test_an_answer_for_another_database_is_named(bird, refusal):
    content = {"0": f"SELECT 1{SEPARATOR}zoo", "4": f"SELECT 1{SEPARATOR}pond"}
    message = refusal(bird, content)
    assert "entry '4': database 'pond', but question 4 of bird-dev has 'shop'" in message


@pytest.mark.parametrize("mark", ["\t", " ----- bird ----- ", "----- bird -----", "\t---bird---\t"])
def test_birds_separator_may_be_written_otherwise(bird, load, refusal, mark):
    content = {q.id: f"{gold(bird)[q.id]}{mark}{q.db_id}" for q in bird.questions}
    assert load(bird, content) == gold(bird)
    content |= {"4": f"SELECT 1{mark}zoo"}
    assert "entry '4': database 'zoo', but question 4 of bird-dev" in refusal(bird, content)


@pytest.mark.parametrize("nothing", [0, None, 1.5, True, "", "  "])
def test_no_answer_is_an_empty_answer(bird, load, nothing):
    assert load(bird, {"0": "SELECT 1", "1": nothing}) == {"0": "SELECT 1", "1": ""}
    records = [{"question_id": 0, "sql": nothing}]
    assert load(bird, records) == {"0": ""}


@pytest.mark.parametrize("value", [{"text": "SELECT 1"}, ["SELECT 1", "SELECT 2"]])
def test_what_may_hold_an_answer_is_not_taken_for_none(bird, refusal, value):
    assert "entry '1': expected SQL, not" in refusal(bird, {"0": "SELECT 1", "1": value})
    assert "item 0: expected SQL, not" in refusal(bird, [{"question_id": 0, "sql": value}])


def test_a_repeated_key_is_refused(bird, refusal):
    message = refusal(bird, '{"0": "SELECT 1", "1": "SELECT 2", "0": "SELECT 3"}')
    assert "one object has the key '0' twice" in message


def test_half_a_character_in_one_answer_does_not_cost_the_others(bird, load):
    content = '{"0": "SELECT \'\\ud83d\'", "1": "SELECT \'\\ud83d\\ude00\'"}'
    assert load(bird, content) == {"0": "SELECT '?'", "1": "SELECT '😀'"}


# Spider's lines


@pytest.mark.parametrize(
    "written",
    [
        lambda lines: "\n".join(lines) + "\n",
        "\n".join,
        lambda lines: "\r\n".join(lines) + "\r\n",
        lambda lines: "\ufeff" + "\n".join(lines),
        lambda lines: "\n".join(lines) + "\n\n\n",
        lambda lines: "\n".join(line + " " for line in lines),
    ],
    ids=["newline", "no newline", "CRLF", "BOM", "blank lines behind", "spaces behind"],
)
def test_lines_pair_by_position_with_any_line_ending(spider, load, lines, bare, written):
    assert load(spider, written(lines)) == gold(spider)
    assert load(spider, written(bare)) == gold(spider)


@pytest.mark.parametrize("position", [0, 5, 11])
@pytest.mark.parametrize("empty", ["", "\tDB"])
def test_an_empty_line_is_an_empty_answer(spider, load, lines, position, empty):
    changed = list(lines)
    changed[position] = empty.replace("DB", spider.questions[position].db_id)
    assert load(spider, "\n".join(changed) + "\n") == gold(spider) | {str(position): ""}


def test_tabs_inside_sql_are_kept(spider, load, lines, bare):
    lines, bare = list(lines), list(bare)
    bare[1] = "SELECT\tname FROM\tanimal ORDER BY name"
    lines[1] = bare[1] + "\tzoo"
    assert load(spider, "\n".join(lines))["1"] == bare[1]
    assert load(spider, "\n".join(bare))["1"] == bare[1]


def test_lines_with_and_without_db_id_can_be_mixed(spider, load, lines, bare):
    assert load(spider, "\n".join(lines[:6] + bare[6:])) == gold(spider)


@pytest.mark.parametrize("position", range(12))
def test_every_dropped_line_is_refused_where_it_first_shows(spider, refusal, lines, position):
    message = refusal(spider, "\n".join(lines[:position] + lines[position + 1 :]) + "\n")
    assert "11 lines for the 12 questions of spider-dev" in message
    if position < 8:  # then the last line of this database is the next one's
        first = 4 if position < 4 else 8
        assert f"system.txt, line {first}: database" in message


@pytest.mark.parametrize("position", [0, 1, 5])
def test_a_file_shifted_by_a_line_is_refused_though_it_is_long_enough(
    spider, refusal, lines, bare, position
):
    shifted = lines[:position] + lines[position + 1 :] + ["SELECT 1\tpond"]
    first = 4 if position < 4 else 8
    assert f"system.txt, line {first}: database" in refusal(spider, "\n".join(shifted))
    shifted = bare[:position] + bare[position + 1 :] + ["SELECT 1"]
    assert f"system.txt, line {first}: names tables of" in refusal(spider, "\n".join(shifted))


def test_a_line_too_many_is_refused(spider, refusal, lines, bare):
    for written in (lines, bare):
        message = refusal(spider, "\n".join([*written, written[-1]]))
        assert "13 lines for the 12 questions of spider-dev" in message
        assert "line 5: " in refusal(spider, "\n".join([written[0], *written]))


def test_a_wrong_table_that_is_no_neighbours_is_the_models_mistake(spider, load, bare):
    changed = ["SELECT * FROM fish", "SELECT * FROM nothing", *bare[2:]]
    assert load(spider, "\n".join(changed))["0"] == "SELECT * FROM fish"


def test_lines_for_another_benchmark_are_refused(spider, refusal, lines):
    other = [line.replace("zoo", "farm") for line in lines]
    assert "line 1: database 'farm', but question 0" in refusal(spider, "\n".join(other))


# Records: JSON lines, JSON lists, CSV


def records(benchmark):
    return [{"question_id": q.id, "sql": benchmark.golds[q.id].sql} for q in benchmark.questions]


def as_json_lines(items):
    return "\n".join(json.dumps(item, ensure_ascii=False) for item in items) + "\n"


def as_csv(path, items):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, items[0])
        writer.writeheader()
        writer.writerows(items)
    return path.read_text()


def test_records_pair_by_id_in_any_order(bird, load, tmp_path):
    items = records(bird)[::-1]
    assert load(bird, as_json_lines(items)) == gold(bird)
    assert load(bird, items) == gold(bird)
    assert load(bird, as_csv(tmp_path / "made.csv", items), "system.csv") == gold(bird)


def test_ids_may_be_numbers(bird, load):
    assert load(bird, [{"id": 5, "prediction": "SELECT 1"}]) == {"5": "SELECT 1"}


def test_a_single_record_is_read_as_json_lines(bird, load):
    assert load(bird, '{"question_id": 5, "sql": "SELECT 1"}') == {"5": "SELECT 1"}


def test_a_file_that_carries_gold_as_well_is_not_judged_by_its_gold(bird, load):
    items = [{"question_id": 0, "SQL": "SELECT gold", "predicted_sql": "SELECT wrong"}]
    assert load(bird, items) == {"0": "SELECT wrong"}
    items = [{"question_id": 0, "query": "SELECT gold", "pred": "SELECT wrong"}]
    assert load(bird, items) == {"0": "SELECT wrong"}


def test_csv_may_quote_newlines_commas_and_unicode_line_separators(bird, load, tmp_path):
    sql = "SELECT \"a,b\"\r\nFROM t\nWHERE x = '\u2028\x0b'"
    text = as_csv(tmp_path / "made.csv", [{"question_id": 3, "sql": sql}])
    assert load(bird, text, "a.csv")["3"].split() == sql.split()
    assert load(bird, "question_id,sql\n3,SELECT '\u2028'\n", "b.csv") == {"3": "SELECT '\u2028'"}


@pytest.mark.parametrize(
    ("separator", "start", "encoding", "end"),
    [
        (";", "", "utf-8-sig", "\r\n"),
        ("\t", "", "utf-16", "\r\n"),
        (";", "sep=;\r\n", "utf-8", "\r\n"),
        (",", "", "utf-8", "\r"),
    ],
)
def test_csv_as_spreadsheets_save_it(bird, load, separator, start, encoding, end):
    rows = [
        separator.join((key, '"' + sql.replace('"', '""') + '"')) for key, sql in gold(bird).items()
    ]
    text = start + end.join([f"question_id{separator}sql", *rows, ""])
    assert load(bird, text.encode(encoding), "a.csv") == gold(bird)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("question_id,sql\n0,SELECT a, b FROM t\n", "row 1: 3 cells under 2 column names; put SQL"),
        ("question_id,sql\n0\n", "row 1: 1 cells under 2 column names"),
        ("question_id,sql,SQL\n0,SELECT 1,SELECT 2\n", "two columns are called 'sql'; keep one"),
    ],
)
def test_csv_of_which_a_part_would_be_lost_is_refused(bird, refusal, content, complaint):
    assert complaint in refusal(bird, content, "a.csv")


@pytest.mark.parametrize("content", ["null", "3", '"SELECT 1"'])
def test_json_without_objects_is_not_taken_for_lines_of_sql(bird, refusal, content):
    assert f"expected an object or a list of them, not {content}" in refusal(
        bird, content, "a.json"
    )


def test_json_lines_may_contain_unicode_line_separators(bird, load):
    items = [{"question_id": n, "sql": "SELECT '\u2028\x85'"} for n in range(2)]
    assert load(bird, as_json_lines(items)) == dict.fromkeys("01", "SELECT '\u2028\x85'")


def test_samples_are_trials_of_one_question(bird, load):
    items = [{"question_id": 2, "sql": f"SELECT {n}", "sample": n} for n in range(3)]
    assert load(bird, items) == {"2": ["SELECT 0", "SELECT 1", "SELECT 2"]}


@pytest.fixture
def saved(tmp_path):
    """A file that a pool of two generators with two samples each was saved to."""

    def saved(name):
        path = tmp_path / name
        candidates = [Candidate(f"SELECT {n}", g, n) for g in ("direct", "plan") for n in range(2)]
        pool_of(("2", Trial(candidate)) for candidate in candidates).save(path)
        return path

    return saved


def test_a_saved_pool_keeps_its_generators(bird, saved):
    pool = load_pool({saved("pool.jsonl"): "pool"}, bird)
    assert [(t.candidate.generator, t.candidate.sample) for t in pool.trials["2"]] == [
        ("direct", 0),
        ("direct", 1),
        ("plan", 0),
        ("plan", 1),
    ]


def test_a_generator_that_two_files_name_has_a_name_for_each(bird, saved):
    pool = load_pool({saved("a.jsonl"): "a", saved("b.jsonl"): "b"}, bird)
    assert pool.generators() == ("a: direct", "a: plan", "b: direct", "b: plan")


def test_two_answers_without_samples_are_refused(bird, refusal):
    items = [{"question_id": n % 2, "sql": f"SELECT {n}"} for n in range(3)]
    message = refusal(bird, as_json_lines(items))
    assert "line 3: question 0 is answered there and in line 1" in message


def test_an_index_must_be_borne_out(spider, load, refusal, bare):
    items = [{"index": n, "sql": sql} for n, sql in enumerate(bare)]
    assert "item 0: given by its position, with no db_id or question" in refusal(spider, items)
    with_db_id = [item | {"db_id": spider.questions[item["index"]].db_id} for item in items]
    assert load(spider, with_db_id[::-1]) == gold(spider)
    with_text = [item | {"question": spider.questions[item["index"]].text} for item in items]
    assert load(spider, with_text[3:]) == {str(n): bare[n] for n in range(3, 12)}


def test_an_index_with_the_text_of_another_question_is_refused(spider, refusal):
    items = [{"index": 1, "sql": "x", "question": "zoo, question 2?"}]
    message = refusal(spider, items)
    assert "item 0: question 'zoo, question 2?', but question 1 of spider-dev is" in message


@pytest.mark.parametrize("index", [12, -1])
def test_an_index_out_of_range_is_refused(spider, refusal, index):
    items = [{"index": index, "sql": "x", "db_id": "zoo"}]
    message = refusal(spider, items)
    assert f"item 0: index {index}, but spider-dev has the questions 0 to 11" in message


def test_records_of_which_some_have_an_id_are_read_one_by_one(spider, load):
    items = [{"question_id": "0", "sql": "a"}, {"index": 5, "sql": "b", "db_id": "shop"}]
    assert load(spider, items) == {"0": "a", "5": "b"}


@pytest.mark.parametrize(
    ("record", "line"),
    [
        ({"sql": "x"}, "item 1: has sql; expected question_id (or index with db_id) and one of"),
        ({"question_id": 1}, "item 1: has question_id; expected"),
        ({}, "item 1: has no fields; expected"),
        (5, "item 1: expected an object with question_id and sql, not 5"),
        ({"index": "b", "sql": "x"}, "item 1: index is 'b', not a whole number"),
        ({"index": 1.5, "sql": "x"}, "item 1: index is '1.5', not a whole number"),
        ({"question_id": 1, "sql": "x", "sample": "b"}, "item 1: sample is 'b', not a whole"),
        ({"question_id": {"a": 1}, "sql": "x"}, "item 1: bird-dev has no question"),
        ({"question_id": 1, "sql": "x", "db_id": 5}, "item 1: database '5', but question 1"),
        ({"question_id": 1, "sql": "x", "question": [1]}, "item 1: question '[1]', but question 1"),
    ],
)
def test_a_record_that_is_none_is_named(bird, refusal, record, line):
    assert line in refusal(bird, [{"question_id": 0, "sql": "SELECT 1"}, record])


# Files that are something else


@pytest.mark.parametrize("content", ["", "\n\n", "  ", "{}", "[]", "\ufeff"])
def test_an_empty_file_is_refused(bird, refusal, content):
    assert "empty; expected predictions as" in refusal(bird, content)


def test_a_csv_without_rows_is_empty(bird, refusal):
    assert "empty; expected" in refusal(bird, "question_id,sql\n", "a.csv")


@pytest.mark.parametrize(
    "content", ["SELECT 'é'".encode("latin-1"), b"\xff\xfeS", bytes(range(256))]
)
def test_a_file_that_is_no_utf8_text_is_refused(bird, refusal, content):
    assert "not UTF-8 text (" in refusal(bird, content)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('{"0": "SELECT 1", "1": "SEL', "not JSON (Unterminated string"),
        ('{\n "0": "SELECT 1",\n "1" "x"\n}', "not JSON (Expecting ':' delimiter: line 3"),
        ('[{"question_id": 0, "sql": "x"},', "not JSON ("),
        ('{"question_id": 0, "sql": "x"}\n\n{oops', "system.txt, line 3: not JSON ("),
        ('{"question_id": 0, "sql": "x"}\n5', "line 2: expected an object"),
        ("[" * 100_000, "not JSON (nested too deeply)"),
    ],
)
def test_json_that_is_none_is_refused(bird, refusal, content, line):
    assert line in refusal(bird, content)


@pytest.mark.parametrize("cell", ['"SELECT 1', '"a" = 1'])
def test_csv_that_is_none_is_refused(bird, refusal, cell):
    assert "not CSV (" in refusal(bird, f"question_id,sql\n0,{cell}\n1,SELECT 2\n", "a.csv")


def test_a_folder_and_a_missing_file_are_refused(bird, tmp_path):
    with pytest.raises(BadInputError, match="Is a directory"):
        load_predictions(tmp_path, bird)
    with pytest.raises(BadInputError, match=r"none\.json: No such file"):
        load_predictions(tmp_path / "none.json", bird)


# The real files


def test_the_real_files_load_with_and_without_their_db_ids(real_spider, tmp_path):
    benchmark = load_spider(real_spider)
    paths = sorted((real_spider / "predictions").glob("*.sql"))
    assert len(paths) == 30
    for path in paths:
        bare = tmp_path / path.name
        lines = path.read_text().splitlines()
        bare.write_text("\n".join(line.rpartition("\t")[0] for line in lines))
        pool = load_predictions(path, benchmark)
        assert len(pool.trials) == 471
        assert load_predictions(bare, benchmark) == pool


def test_a_real_file_is_refused_whichever_line_is_dropped(real_spider, tmp_path):
    benchmark = load_spider(real_spider)
    bounds = [n for n in range(1, 471) if has_new_database(benchmark, n)]
    path = tmp_path / "shifted.sql"
    lines = (real_spider / "predictions/codes_7b.sql").read_text().splitlines(keepends=True)
    for position in range(471):
        path.write_text("".join(lines[:position] + lines[position + 1 :]))
        first = next((bound for bound in bounds if bound > position), None)
        where = f"line {first}: database" if first else "470 lines for the 471 questions"
        with pytest.raises(MisalignedError, match=where):
            load_predictions(path, benchmark)


@pytest.mark.parametrize("position", [0, 91, 92, 250, 414])
def test_every_real_file_is_refused_when_shifted_without_db_ids(real_spider, tmp_path, position):
    benchmark = load_spider(real_spider)
    path = tmp_path / "shifted.sql"
    for real in (real_spider / "predictions").glob("*.sql"):
        bare = [line.rpartition("\t")[0] for line in real.read_text().splitlines()]
        path.write_text("\n".join(bare[:position] + bare[position + 1 :] + ["SELECT 1"]))
        with pytest.raises(MisalignedError, match="names tables of"):
            load_predictions(path, benchmark)


def has_new_database(benchmark, position):
    return benchmark.questions[position].db_id != benchmark.questions[position - 1].db_id


def inspect_log(samples, **spec):
    return {"version": 2, "status": "success", "eval": spec, "samples": samples}


def sample(key, text, **more):
    return {"id": key, "epoch": 1, "input": f"Schema: ...\nQuestion: {text}", **more}


def reply(text):
    return {"output": {"choices": [{"message": {"role": "assistant", "content": text}}]}}


def test_an_inspect_log_answers_with_its_first_score_or_its_reply(bird, load, tiny):
    texts = [text for _, text, _ in tiny.items]
    samples = [
        sample(0, texts[0], scores={"ex": {"value": "C", "answer": "SELECT 0"}}),
        sample("1", texts[1], **reply("So:\n```sql\nSELECT 1;\n```")),
        sample(2, texts[2], **reply("I cannot tell.")),
    ]
    log = inspect_log(samples, solver="mine", model="m")
    assert load(bird, log, "log.json") == {"0": "SELECT 0", "1": "SELECT 1", "2": ""}


def test_epochs_of_an_inspect_log_are_samples(bird, load, tiny):
    text = tiny.items[0][1]
    samples = [{**sample(0, text, **reply(f"SELECT {n}")), "epoch": n} for n in (1, 2)]
    assert load(bird, inspect_log(samples, model="m"), "log.json") == {
        "0": ["SELECT 1", "SELECT 2"]
    }


def test_an_inspect_log_with_numbers_of_its_own_is_refused(bird, load, tiny):
    samples = [sample(1, tiny.items[0][1], **reply("SELECT 1"))]
    with pytest.raises(MisalignedError, match=r"sample 0: question 'Schema.*but question 1"):
        load(bird, inspect_log(samples, model="m"), "log.json")


def test_an_inspect_log_finds_its_texts_among_the_attachments(bird, load, tiny):
    text = tiny.items[0][1]
    kept = {"input": "attachment://a", "attachments": {"a": text, "b": "SELECT 5"}}
    samples = [sample(0, "") | reply("attachment://b") | kept]
    assert load(bird, inspect_log(samples, model="m"), "log.json") == {"0": "SELECT 5"}


def test_inspect_logs_without_samples_or_in_packed_form_say_what_to_do(bird, load):
    with pytest.raises(BadInputError, match="without samples"):
        load(bird, inspect_log([]), "log.json")
    with pytest.raises(BadInputError, match="inspect log convert"):
        load(bird, b"PK", "log.eval")


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"scores": ["C"]}, r"sample 0: scores is \['C'\], not an object"),
        ({"scores": {"ex": None}}, "expected an object with answer, not None"),
        ({"output": "SELECT 1"}, "output is 'SELECT 1', not an object"),
        ({"output": {"choices": ["SELECT 1"]}}, "expected an object with message"),
        ({"epoch": "one"}, "epoch is 'one', not a whole number"),
        ({"input": ["How many?"]}, "expected an object with content"),
        ({"attachments": []}, r"attachments is \[\], not an object"),
        ({"metadata": [1]}, r"metadata is \[1\], not an object"),
    ],
)
def test_a_sample_of_another_form_is_refused_by_its_number(bird, load, tiny, changed, fault):
    samples = [sample(0, tiny.items[0][1], **reply("SELECT 1")) | changed]
    with pytest.raises(BadInputError, match=fault):
        load(bird, inspect_log(samples, model="m"), "log.json")


@pytest.mark.parametrize("other", ["din_sql.json", "baseline.sql", "mine.csv"])
def test_a_folder_of_a_run_stands_for_its_answers_and_for_other_predictions(tmp_path, other):
    names = ["chase.answers.jsonl", "chase.csv", "index.json", "chase_questions.csv"]
    for name in [*names, "chase_1.answers.jsonl", "chase_1.preview.json", other]:
        (tmp_path / name).touch()
    found = {file.name for file in prediction_files([str(tmp_path)])}
    assert found == {"chase.answers.jsonl", "chase_1.answers.jsonl", other}
