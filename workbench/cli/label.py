"""`workbench label ...`: count labels, measure agreement, export and import labels."""

from pathlib import Path
from shlex import join

import click

from workbench.cli import options
from workbench.errors import BadInputError
from workbench.label.store import Label, LabelStore
from workbench.label.taxonomy import choice_name, open_taxonomy, published

_name = click.argument("name")
_of = click.option("--taxonomy", "chosen", metavar="NAME", help="Only labels of this taxonomy.")
_benchmark = click.option(
    "--benchmark", help="The benchmark's name, where it is not the labels' name."
)
_file = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))


@click.group()
def label() -> None:
    """Count labels of errors, measure agreement, export and import labels.

    Labels are given in notebooks/label_errors.ipynb, whose `limit` is the number of questions to search for errors;
    `?` shows the keys. notebooks/README.md leads from two annotators to agreement and a figure. NAME is the name of
    the labels, which is that of their benchmark, such as bundled-dev; they are stored in labels/NAME.sqlite in the
    workbench's home.
    """


@label.command()
@click.argument("name", required=False)
def taxonomies(name: str | None) -> None:
    """List the taxonomies, or show one: a paper's by NAME, or your own by its YAML file."""
    for one in [open_taxonomy(name)] if name else published().values():
        print(f"{one.name} ({one.source})" if one.source else one.name)
        for (category, part), what in one.choices() if name else ():
            print(f"  {'  ' if part else ''}{part or category}: {what.meaning}".rstrip(": "))


@label.command()
@_name
@_of
def show(name: str, chosen: str | None) -> None:
    """Count the labels by taxonomy, category and annotator."""
    from workbench.label.frames import labels_frame  # noqa: PLC0415  pandas: half a second

    store = _existing(name)
    frame = labels_frame(_chosen(store, chosen))
    by = ["taxonomy", "category", "subcategory", "annotator"]
    print(frame.groupby(by).size().rename("n").reset_index().to_string(index=False))
    if store.torn:
        old = store.path.with_suffix(".jsonl").name
        print(f"{store.torn} lines of {old} were cut off by a crash and are left out")


@label.command()
@_name
@click.option("--taxonomy", "chosen", metavar="NAME", required=True, help="The labels' taxonomy.")
@click.option("--subcategories", is_flag=True, help="Different sub-categories disagree, too.")
def agreement(name: str, chosen: str, *, subcategories: bool) -> None:
    """Measure the annotators' agreement beyond chance, and list the cases they dispute.

    Cohen's kappa of every two annotators, Fleiss' of all, Krippendorff's alpha of all cases that two or more labelled,
    each with its 95% interval; then the same for each category against all others.
    """
    from workbench.label.agreement import tables  # noqa: PLC0415  pandas: half a second
    from workbench.label.agreement.disputes import disputes  # noqa: PLC0415

    labels = _chosen(_existing(name), chosen)
    table = tables.agreement(labels, subcategories=subcategories)
    print(table.to_string(index=False, float_format="%.3f") if len(table) else "no two annotators")
    by_category = tables.agreement_by_category(labels, subcategories=subcategories)
    if len(by_category):
        print(by_category.to_string(index=False, float_format="%.3f"))
    for given in disputes(labels).values():
        opinions = "; ".join(
            f"{label.annotator}: {choice_name(label.category, label.subcategory)}"
            for label in given
        )
        print(f"question {given[0].question_id} on {given[0].db_id}: {opinions}")


@label.command("export")
@_name
@_file
@_of
def export_(name: str, file: Path, chosen: str | None) -> None:
    """Write the labels to FILE (.csv or .jsonl). Spreadsheets do not run its cells as formulas."""
    from workbench.label.store.transfer import export  # noqa: PLC0415

    print(f"{file}: {export(_chosen(_existing(name), chosen), file)} labels")


@label.command("import")
@_name
@_file
def import_(name: str, file: Path) -> None:
    """Add the labels of FILE, except those that were added before."""
    from workbench.label.store.transfer import import_labels  # noqa: PLC0415

    store = LabelStore.named(name)
    print(f"{store.path}: {import_labels(file, store)}")


@label.command()
@_name
@_benchmark
@options.root
@options.golds
@click.option(
    "--carry", is_flag=True, help="Add the labels of reworded questions under the new text."
)
def revised(
    name: str, benchmark: str | None, root: Path | None, golds: dict[str, Path], *, carry: bool
) -> None:
    """List the labels that need another look, since a revision changed the question, hint or gold query."""
    from workbench.benchmarks.named import open_benchmark  # noqa: PLC0415
    from workbench.benchmarks.revisions import read_revisions  # noqa: PLC0415
    from workbench.label.store.revised import outdated_labels, under_new_text  # noqa: PLC0415

    if not golds:
        raise BadInputError("no revision is given: add --gold NAME=FILE")
    store = _existing(name)
    opened = open_benchmark(benchmark or name, root)
    labels = store.labels()
    for revision in read_revisions(golds, opened):
        found = list(outdated_labels(labels, opened, revision))
        for one in found:
            given = choice_name(one.label.category, one.label.subcategory)
            print(
                f"{revision.name}: question {one.label.question_id} on {one.label.db_id}, {', '.join(one.changed)}"
                f" changed: {one.label.annotator}: {given}"
            )
        print(f"{revision.name}: {len(found)} of {len(labels)} labels need another look")
        if carry:
            print(
                f"{revision.name}: {store.add(under_new_text(found))} labels added under the new text"
            )


@label.command()
@_name
@_file
@_benchmark
@options.root
def golds(name: str, file: Path, benchmark: str | None, root: Path | None) -> None:
    """Write the gold queries with the annotators' corrections, for `evaluate --gold NAME=FILE`."""
    from workbench.benchmarks.named import open_benchmark  # noqa: PLC0415
    from workbench.label.store.golds import peoples_gold  # noqa: PLC0415

    opened = open_benchmark(benchmark or name, root)
    if file.exists():
        options.check_writable(file, Path(benchmark or name))
    found = peoples_gold(_existing(name).labels(), opened)
    found.write(file)
    print(f"{file}: {found}")
    of = [benchmark or name, *(["--root", str(root)] if root else [])]
    of += ["--predictions", "PREDICTIONS", "--gold", f"people={file}"]
    print(join(["workbench", "evaluate", *of]))


def _existing(name: str) -> LabelStore:
    store, names = LabelStore.named(name), LabelStore.names()
    if name not in names:
        raise BadInputError(
            f"no labels {name!r} in {store.path.parent}; there are {', '.join(names) or 'none'}"
        )
    return store


def _chosen(store: LabelStore, taxonomy: str | None) -> tuple[Label, ...]:
    """The labels of one taxonomy (upper and lower case are alike), or of all."""
    labels = store.labels()
    if taxonomy is None:
        return labels
    known = sorted({label.taxonomy for label in labels})
    named = {taxonomy} & set(known) or {x for x in known if x.lower() == taxonomy.lower()}
    if not named:
        raise BadInputError(
            f"no labels of taxonomy {taxonomy!r} in {store.path}; there are labels of"
            f" {', '.join(known) or 'none'}"
        )
    return tuple(label for label in labels if label.taxonomy in named)
