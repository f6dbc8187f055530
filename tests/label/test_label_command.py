"""`workbench label ...`: what is there, agreement, and files out and in."""

import pytest
from click.testing import CliRunner

from workbench.cli.label import label
from workbench.errors import BadInputError
from workbench.label.store import LabelStore, label_of


@pytest.fixture
def run(monkeypatch, tmp_path):
    """`workbench label ...`: what it prints, in a home of its own."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))

    def run(*arguments):
        done = CliRunner().invoke(label, list(map(str, arguments)), catch_exceptions=False)
        assert done.exit_code == 0
        return done.output

    return run


@pytest.fixture
def two_annotators(run, make_case):
    store = LabelStore.named("zoo")
    for name, categories in {"ann": "aab", "bob": "abb"}.items():
        store.add(
            label_of(make_case(f"SELECT {number}"), "T", category, annotator=name)
            for number, category in enumerate(categories)
        )
    return store


def test_the_papers_taxonomies_are_listed(run):
    assert "CHESS (figure 18, appendix F)" in run("taxonomies")
    assert "    Malformed Date: A date is taken apart" in run("taxonomies", "chess")


def test_labels_are_counted(run, two_annotators):
    lines = run("show", "zoo").splitlines()
    assert len(lines) == 5
    assert lines[1].split() == ["T", "a", "ann", "2"]


def test_agreement_names_the_disputes(run, two_annotators):
    output = run("agreement", "zoo", "--taxonomy", "T")
    assert "ann, bob" in output
    assert "0.400" in output
    assert "question 7 on harbour: ann: a; bob: b" in output


def test_a_rule_is_no_annotator(run, make_case):
    store = LabelStore.named("zoo")
    store.add(
        label_of(make_case(), "T", name[0], annotator=name, automatic=name == "automatic")
        for name in ("ann", "automatic")
    )
    assert run("agreement", "zoo", "--taxonomy", "T") == "no two annotators\n"


def test_a_taxonomy_is_named_in_any_case_and_one_without_labels_is_refused(
    run, two_annotators, tmp_path, make_case
):
    two_annotators.add([label_of(make_case(), "MAC-SQL", "Other", annotator="ann")])
    assert run("agreement", "zoo", "--taxonomy", "t").startswith("annotators ")
    assert "Other" in run("show", "zoo", "--taxonomy", "mac-sql")
    two_annotators.add([label_of(make_case(), "Mac-sql", "Mine", annotator="ann")])
    assert "Mine" not in run("show", "zoo", "--taxonomy", "MAC-SQL")
    file = tmp_path / "out.csv"
    assert run("export", "zoo", file, "--taxonomy", "MAC-SQL") == f"{file}: 1 labels\n"
    for command in (["agreement", "zoo"], ["show", "zoo"], ["export", "zoo", file]):
        with pytest.raises(
            BadInputError, match=r"'CHESS' in .*; there are labels of MAC-SQL, Mac-sql, T"
        ):
            run(*command, "--taxonomy", "CHESS")


def test_labels_go_out_and_come_in(run, two_annotators, tmp_path):
    file = tmp_path / "out.csv"
    assert run("export", "zoo", file) == f"{file}: 6 labels\n"
    assert run("import", "pond", file).endswith("pond.sqlite: 6 labels added\n")
    assert LabelStore.named("pond").labels() == two_annotators.labels()


def test_unknown_labels_are_an_error_of_one_line(run, two_annotators):
    with pytest.raises(BadInputError, match=r"no labels 'lake' in .*; there are zoo"):
        run("show", "lake")
