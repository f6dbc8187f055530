"""The top and the end of report.html: a summary of models, systems, cost and claims, and the provenance."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.experiment.report.bundle import FOLDER, Bundle
from workbench.experiment.report.pieces import PARSER_NOTE, Piece, by_parser, claim_item
from workbench.html.parts import details, line, table
from workbench.html.tree import Element, Node, element
from workbench.llm.budget import dollars
from workbench.study.saved import verdict

_SYSTEM_COLUMNS = {"system", "n", "EX", "low", "high", "calls", "tokens", "dollars", "run"}


def summary(pieces: Sequence[Piece], bundle: Bundle, manifest: Mapping[str, Any]) -> list[Node]:
    """The parts of the summary: models and cost, the systems, and the papers' claims."""
    parts: list[Node] = [element("h2", "Summary", id="summary")]
    if by_parser(pieces):
        parts.append(line(PARSER_NOTE))
    parts += map(line, _facts(manifest))
    parts.append(line(_bundle_size(bundle)))
    if systems := list(_systems(bundle)):
        columns = ("system", "questions", "EX, %", "95% interval", "calls", "tokens", "dollars")
        caption = "Systems on all questions; calls, tokens and dollars of a question"
        numbers = table(columns, systems, caption, kind="numbers")
        parts.append(element("div", numbers, class_="scroll"))
    return [*parts, *_claims(pieces)]


def _facts(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on the models, the date, the time that notebooks took, and the cost."""
    if not manifest:
        return
    records = manifest["notebooks"]
    models = dict.fromkeys([manifest["model"], *manifest["models"].values()])
    limit = manifest["limit"]
    questions = f"{limit:.0%} of each database's" if (limit or 1) < 1 else limit
    yield (
        f"{', '.join(models)} on {manifest['benchmark']}{f', {questions} questions' if limit else ''}; "
        f"written {manifest['written'].replace('T', ' ').removesuffix('Z')} UTC."
    )
    minutes = sum(record["seconds"] for record in records) / 60
    calls, hits = (sum(record[name] for record in records) for name in ("calls", "hits"))
    yield (
        f"{len(records)} notebooks took {minutes:,.1f} minutes one after the other: {calls:,} calls, "
        f"{hits:,} answered from the cache, {dollars(manifest['dollars'], manifest.get('unpriced', 0))}."
    )
    if manifest["failed"]:
        yield f"Failed: {', '.join(manifest['failed'])}."


def _bundle_size(bundle: Bundle) -> str:
    if not bundle.linked:
        return "The runs behind these numbers are not in the cache, so no number leads to its questions."
    return (
        "Each number that answers were counted for leads to its questions, their SQL, and the calls that proposed, fixed"
        " and chose the SQL, with their prompts; calls of retrieval and pruning are cached without their question:"
        f" {bundle.calls:,} calls of {len(bundle.runs):,} runs, {bundle.size / 1e6:,.1f} MB in the folder {FOLDER}"
        " beside this page. Keep the folder with the page."
    )


def _systems(bundle: Bundle) -> Iterator[list[Node]]:
    """A row for each run of a system on the most questions, in the order in which tables have them."""
    system_rows = [
        (name, number, row)
        for name, rows in bundle.rows.items()
        for number, row in enumerate(rows)
        if row.keys() >= _SYSTEM_COLUMNS and row["run"] and row["EX"] and row["n"]
    ]
    question_count = max((int(float(row["n"])) for *_, row in system_rows), default=0)
    seen: set[str] = set()
    for name, number, row in system_rows:
        if int(float(row["n"])) < question_count or row["run"] in seen:
            continue
        seen.add(row["run"])
        low, high = float(row["low"]), float(row["high"])
        texts = [f"{question_count:,}", f"{float(row['EX']):.1f}", f"{low:.1f} to {high:.1f}"]
        texts += [f"{float(row['calls']):,.1f}", f"{float(row['tokens']):,.0f}"]
        texts.append(f"{float(row['dollars']):,.4f}" if row["dollars"] else "")
        linked = (name, number) in bundle.linked
        cells = [answers_link(name, number, text) if linked else text for text in texts]
        run_name = bundle.runs.get(row["run"], (row["system"], ""))[0]
        label = element("th", run_name, scope="row", class_="words")
        yield [label, *(element("td", cell) for cell in cells)]


def answers_link(name: str, number: int | None, text: str) -> Element:
    """A link to the answers behind a row of a figure's or table's data; without a number, behind all rows."""
    row = "" if number is None else f".{number}"
    return element("a", text, href=f"{FOLDER}/index.html#{name}{row}")


def _claims(pieces: Sequence[Piece]) -> Iterator[Node]:
    claims = [(piece, claim) for piece in pieces for claim in piece.claims]
    if not claims:
        return
    verdicts = Counter(verdict(claim["holds"]) for _, claim in claims)
    heading = f"{len(claims)} claims of the papers: " + ", ".join(
        f"{number} {words}" for words, number in verdicts.items()
    )
    items = [
        claim_item(claim, element("a", claim["text"], href=f"#{piece.name}"))
        for piece, claim in claims
    ]
    yield details(heading, element("ul", *items))


def provenance(bundle: Bundle, manifest: Mapping[str, Any]) -> Element:
    """Versions, fingerprints, and every run and notebook behind the numbers."""
    fields = ("experiment", "commit", "code", "questions")
    facts = [(name, str(manifest[name])) for name in fields if manifest.get(name)]
    facts += [(name, str(value)) for name, value in manifest.get("versions", {}).items()]
    runs = [(run, name, system) for run, (name, system) in sorted(bundle.runs.items())]
    records = [
        (
            r["notebook"],
            f"{r['seconds']:,.1f}",
            f"{r['calls']:,}",
            f"{r['hits']:,}",
            dollars(r["dollars"], r.get("unpriced", 0)),
        )
        for r in manifest.get("notebooks", ())
    ]
    titles = ("notebook", "seconds", "calls", "cached", "paid")
    tables = (
        table(("what", "is"), facts, "Versions and fingerprints") if facts else None,
        table(titles, records, "Notebooks") if records else None,
        table(("run", "name", "system"), runs, "Runs") if runs else None,
    )
    return details(
        "Provenance",
        *(element("div", shown, class_="scroll") for shown in tables if shown),
        id="provenance",
    )
