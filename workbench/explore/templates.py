"""Prompt templates of one's own: read, checked and kept in a folder that a `Lab` or an experiment can use."""

from pathlib import Path

from workbench.errors import BadInputError, naming
from workbench.prompts.prompt import load
from workbench.prompts.template import parse
from workbench.report.markup import Html, line, pre, view


def source(prompt: str, prompts: Path | None = None) -> str:
    """The template's text as it is now used."""
    return load(prompt, prompts).path.read_text(encoding="utf-8")


def check(prompt: str, text: str) -> None:
    """An error if the text is no template, or wants data that this prompt is not given."""
    given = load(prompt).variables
    if unknown := set(parse(text, Path(f"{prompt}.md")).variables) - set(given):
        raise BadInputError(
            f"{prompt}: {', '.join(sorted(unknown))} unknown; it is given {', '.join(given)}"
        )


def save(folder: Path, prompt: str, text: str, *, overwrite: bool = False) -> Path:
    """Keep a template as FOLDER/VERB/METHOD.md: `Lab(..., prompts=FOLDER)` then uses it instead of ours.

    One that is there and says something else is only replaced when asked for.
    """
    check(prompt, text)
    path = folder.expanduser() / f"{prompt}.md"
    if path.exists() and not overwrite and path.read_text(encoding="utf-8") != text:
        raise BadInputError(
            f"{path} is there and differs: name another folder, or allow to replace it"
        )
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    return path


def saved_html(path: Path, folder: Path) -> Html:
    """Where a template was saved, and how an experiment and a `Lab` are told to use its folder."""
    return view(
        "Saved",
        line(f"{path}. An experiment whose file has this line uses it:"),
        pre(f"prompts: {folder}"),
        line("In Python:"),
        pre(f"Lab(..., prompts=Path({str(folder)!r}))"),
        kind="wb-saved",
    )
