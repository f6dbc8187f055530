"""The committed part of an experiment: its executed notebooks, and one page of Markdown with all tables and figures."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from workbench.report.tables import all_published, markdown
from workbench.study.saved import VERDICTS, read_index

_PAPERS = {"chase": "CHASE-SQL", "chess": "CHESS", "mac": "MAC-SQL", "pool": "Any pool of candidates",
           "beyond": "Beyond the papers"}  # fmt: skip
_MOST_ROWS = 20  # of a table on the page; a list of cases is a link
_PARSER = " (a small statistical parser, no language model)"
# The name of what a notebook saves, in a cell or in its JSON, where quotes are escaped.
SAVED = re.compile(r"""\.save\((?:\\n|[\s",])*(?:study, )?\\?["'](\w+)""")


def write_executed(executed: Path, figures: Path, experiment: Path) -> None:
    """Write an executed notebook beside its figures, without times, ids and what a process printed.

    A figure becomes a link to the PNG that the notebook saved, and the experiment's path its name.
    """
    content = json.loads(executed.read_text("utf-8").replace(str(experiment), experiment.stem))
    content["metadata"] = {key: content["metadata"][key] for key in ("kernelspec", "language_info")}
    for number, cell in enumerate(content["cells"]):
        tags = cell["metadata"].get("tags")
        cell |= {"id": f"cell-{number}", "metadata": {"tags": tags} if tags else {}}
        if cell["cell_type"] == "code":
            saved = reversed(SAVED.findall("".join(cell["source"])))
            png = next((name for name in saved if (figures / f"{name}.png").is_file()), "")
            cell["outputs"] = [_linked(out, png) for out in cell["outputs"] if "data" in out]
    text = json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True)
    (figures / executed.name).write_text(f"{text}\n", "utf-8")


def _linked(output: dict[str, Any], png: str) -> dict[str, Any]:
    """The output with a link to the saved figure in place of its image, and without style sheets."""
    data = output["data"]
    if data.keys() & {"image/png", "image/svg+xml"}:
        data = {"text/markdown": f"![{png}]({png}.png)" if png else "a figure that was not saved"}
    elif "text/html" in data:
        html = "".join(data["text/html"])
        data = {"text/html": re.sub(r"<style\b.*?</style>\s*", "", html, flags=re.DOTALL)}
    return output | {"data": data, "metadata": {}}


def write_gallery(figures: Path) -> Path:
    """Write README.md in the folder of all figures. Runs with a limit, in folders like `embedded-3`, are left out."""
    lines = ["# Figures"]
    for folder in sorted(path for path in figures.iterdir() if path.is_dir()):
        own = figures.parent / "experiments" / f"{folder.name}.yaml"
        limited = re.search(r"-[\d.]+$", folder.name) and not own.is_file()
        if not limited and (index := read_index(folder)):
            lines += ["", f"## {folder.name}", "", *_page(folder, index)]
    path = figures / "README.md"
    path.write_text("\n".join(lines).rstrip() + "\n", "utf-8")
    return path


def _order(name: str) -> tuple[Any, ...]:
    """Sorts by paper; in a paper, numbered tables and figures come first, then the others by name."""
    word, *_ = name.split("_")
    numbered = re.match(r"[^_]+_(?:figure|table|section)_(\d+)", name)
    paper = list(_PAPERS).index(word) if word in _PAPERS else len(_PAPERS)
    return paper, word, int(numbered[1]) if numbered else float("inf"), name


def _page(folder: Path, index: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    if any(record["stamp"].startswith("embedded/") for record in index.values()):
        yield from ("Machinery check: a parser answered, no language model.", "")
    links = [f"[{page.stem}]({folder.name}/{page.name})" for page in sorted(folder.glob("*.ipynb"))]
    yield f"Executed notebooks: {', '.join(links) or 'none'}. `index.json` names the runs behind each piece."
    titles = {(each.paper, each.source): each.title for each in all_published()}
    for word, names in groupby(sorted(index, key=_order), key=lambda name: name.split("_")[0]):
        paper = _PAPERS.get(word, word)
        yield from ("", f"### {paper}")
        for name in names:
            record, words = index[name], name.split("_")[1:]
            title = record["title"] or titles.get((paper, " ".join(words[:2])), "")
            label = (" ".join(words) or name).capitalize()
            yield from ("", f"#### {markdown(f'{label}: {title}' if title else label)}", "")
            link = f"[data]({folder.name}/{name}.csv)"
            if record["kind"] == "figure":
                yield f"![{markdown(label)}]({folder.name}/{name}.png)"
            elif (rows := record["table"].count("\n|") - 2) > _MOST_ROWS:
                link = f"[{rows} rows]({folder.name}/{name}.csv)"
            else:  # its title is in the heading
                yield re.sub(r"^\*\*.*?\*\*\n\n", "", record["table"]).replace(_PARSER, "").rstrip()
            stamp = "" if "Here: " in record["table"] else record["stamp"].replace(_PARSER, "")
            yield from ("", f"{markdown(stamp)} ({link})".strip())
            for claim in record["claims"]:
                if claim["holds"] is not None:
                    told = markdown(f"{claim['text']} {claim['detail']}")
                    yield from ("", f"- **{VERDICTS[claim['holds']]}**: {told}")
