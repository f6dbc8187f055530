"""`workbench evaluate` judges files of predictions; `workbench train` makes chats of them, and tunes a model on chats."""

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, get_args

import click

from workbench.benchmarks.benchmark import Benchmark, open_benchmark, with_golds
from workbench.benchmarks.predictions import candidates, read_predictions
from workbench.canonical import plain
from workbench.cli import options
from workbench.evaluate import judge as judging
from workbench.evaluate.ex import efficiency as timed
from workbench.evaluate.ex import suite_verdicts
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.sql.executor import Executor
from workbench.systems.chess import chess_ir_ss_cg
from workbench.train import data as training
from workbench.train.data import Conversation, Format, NoisySchema, Pairs, write
from workbench.train.lora import Lora

_SHARED = (
    click.argument("benchmark"), options.model, options.root, options.prompts, options.limit, options.dollars,
    click.option("--out", type=options.FILE, required=True, help="The file to write."),
    click.option("--format", "form", type=click.Choice(get_args(Format)), default="huggingface", show_default=True,
                 help="Who reads the file."),
)  # fmt: skip
_Made = tuple[Iterable[Conversation], str]  # and their name in the last line


def _by_name(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    files = dict(item.partition("=")[::2] for item in given)
    if not all(files.values()) or len(files) < len(given):
        raise click.BadParameter(f"{' '.join(given)!r}: give NAME=FILE, each name once")
    return files


@click.command()
@click.argument("benchmark")
@options.root
@options.limit
@options.predictions
@click.option("--gold", "golds", multiple=True, metavar="NAME=FILE", callback=_by_name,
              help="Judge also by revised gold queries, such as BIRD's dev_20251106.")  # fmt: skip
@click.option("--by", type=click.Choice(["difficulty", "db_id", "feature"]), multiple=True,
              help="Add a table by this column; feature is a part of the gold query, such as a join.")  # fmt: skip
@click.option("--efficiency", type=click.IntRange(1), metavar="RUNS", help="Add VES and R-VES: the best of five repeats,"
              " in each of which a right answer and gold are timed so often (BIRD: 100).")  # fmt: skip
@click.option("--suite", type=options.FOLDER, help="Add test-suite accuracy: this folder has DB/*.sqlite, the variants"
              " of each database.")  # fmt: skip
@click.option("--save", type=options.FILE, help="Write every verdict to a .jsonl or .csv.")
def evaluate(benchmark: str, root: Path | None, limit: int | None, files: tuple[str, ...], golds: dict[str, str],
             by: tuple[str, ...], efficiency: int | None, suite: Path | None, save: Path | None) -> None:  # fmt: skip
    """Judge files of predictions, and compare each with the first one.

    BENCHMARK is a name that `workbench data` lists, or a JSON file of your own, with --root the folder of its
    databases. FILE has predictions, or is a folder of such files.

    Numbers are in percent, and intervals are clustered by database. ex_bird compares sets of rows. ex_spider compares
    rows with their duplicates, under any order of the columns; it drops DISTINCT from both queries, and minds the order
    of rows where gold has an ORDER BY. em is Spider's exact set match, soft_f1 that of BIRD's mini-dev.
    """
    if save:
        options.check_writable(save, *files, *golds.values(), benchmark)
    judged = open_benchmark(benchmark, root).limited(limit)
    revised = {name: with_golds(judged, file) for name, file in golds.items()}
    given = read_predictions(judged, *files)
    with Cache() as store, Executor(store) as executor:
        found = judging.judge(judged, given, executor)
        if suite:
            pairs = list(zip(found["question_id"], found["sql"].fillna(""), strict=True))
            found["suite"] = suite_verdicts(judged, pairs, suite, executor)
        summary = judging.summarise(found)
        if efficiency:
            right = found.assign(correct=found["ex_bird"] > 0)
            scored = timed(judged, right, executor, "time", efficiency).groupby("generator")
            summary = summary.join(100 * scored[["ves", "r_ves"]].mean(), on="generator")
        title = f"{judged.name}: {len(judged.questions)} questions ({judged.fingerprint()[:22]})\n"
        tables = {title: summary}
        for name in by:
            frame = judging.by_feature(found, judged) if name == "feature" else found
            tables[f"\nby {name}"] = judging.summarise(frame, name)
        for name, other in revised.items():
            again = judging.judge(other, given, executor)
            tables[f"\nunder the golds {name}"] = judging.summarise(again)
    for title, table in tables.items():
        print(title, table.to_string(index=False, float_format="%.2f"), sep="\n")
    failed = found[found["gold_error"] != ""].drop_duplicates("question_id")
    for key, error in zip(failed["question_id"], failed["gold_error"], strict=True):
        print(f"\nthe gold query of question {key} failed: {error}")
    against, *others = summary["generator"]
    for name in others:
        one = judging.compare_generators(found, name, against)
        change, low, high = (f"{100 * x:+.2f}" for x in (one.difference, one.low, one.high))
        print(f"\n{name} against {against}, EX (BIRD) of the first answers: {change} [{low}, {high}],",
              f"p = {one.p_value:.3g}; {one.note}")  # fmt: skip
        print(f"  only {name} is right: {' '.join(one.won) or 'never'}")
        print(f"  only {against} is right: {' '.join(one.lost) or 'never'}")
    if save and save.suffix == ".csv":
        found.map(plain).to_csv(save, index=False)
    elif save:
        found.to_json(save, orient="records", lines=True)


@click.group()
def train() -> None:
    """Export chats to fine-tune a model, and tune one."""


def _exports(make: Callable[..., _Made]) -> Any:
    """A command of `train` that writes the chats of a benchmark to a file."""

    @wraps(make)  # which keeps its own options
    def command(benchmark: str, out: Path, form: Format, root: Path | None, limit: int | None,
                dollars: float | None, prompts: Path | None, **given: Any) -> None:  # fmt: skip
        options.check_writable(out, *given.get("files", ()), benchmark)
        opened = open_benchmark(benchmark, root).limited(limit)
        with options.open_lab(opened.database, dollars, prompts=prompts) as lab:
            made, what = make(opened, lab, **given)
            print(f"{out}: {write(made, out, form):,} {what}\n{lab.client.ledger}")

    added: Any = command
    for option in _SHARED:
        added = option(added)
    return train.command()(added)


@_exports
@options.predictions
@options.system(default="chase")
@options.settings(Pairs)
def pairs(benchmark: Benchmark, lab: Lab, files: tuple[str, ...], system: str, model: str, **given: Any) -> _Made:  # fmt: skip
    """Export chats to fine-tune a selection model.

    Each chat has a right and a wrong candidate of FILE, which has predictions or is a folder of such files. Where no
    candidate is right, the system's generators are asked with the gold query as a hint; where there still is none,
    --gold takes the gold query. Use a training split.
    """
    found = candidates(read_predictions(benchmark, *files))
    return Pairs(options.make_system(system, model), **given)(lab, benchmark, found), "pairs"


@_exports
@options.settings(NoisySchema)
def generator(benchmark: Benchmark, lab: Lab, model: str, wrong: int) -> _Made:
    """Export chats to fine-tune a generator (CHESS, appendix B).

    Each chat has a gold query and a partly wrong schema, with --wrong wrong columns for each right one. --model finds
    keywords. Use a training split.
    """
    return NoisySchema(chess_ir_ss_cg(model).retrieve, wrong)(lab, benchmark), "questions"


@_exports
@options.system(default="mac")
def instructions(benchmark: Benchmark, lab: Lab, system: str, model: str) -> _Made:
    """Export chats to fine-tune a system's agents.

    The system answers the questions; the chats are the calls behind each right answer. A stopped run continues from
    the cache. Use a training split.
    """
    found = training.instructions(benchmark, options.make_system(system, model), lab)
    right, asked = len({talk.question_id for talk in found}), len(benchmark.questions)
    return found, f"calls behind {right:,} right answers to {asked:,} questions"


@train.command()
@click.argument("data", type=options.FILE)
@click.option("--model", required=True, help="The folder of a model, or its name at Hugging Face.")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="A folder for the adapter."
)
@options.settings(Lora)
def lora(data: Path, model: str, out: Path, **given: Any) -> None:
    """Fine-tune a model by LoRA; needs the extra train.

    DATA has chats in Hugging Face's form. The defaults are those of CHASE-SQL's judge; CHESS's generator takes --rank 128
    --alpha 256 --epochs 2 --batch 32 --rate 1e-4 --four-bits. A stopped training goes on from its last epoch.
    """
    losses = Lora(**given)(data, model, out)
    print(f"{out}: the adapter; losses {', '.join(f'{loss:.3f}' for loss in losses)}")
