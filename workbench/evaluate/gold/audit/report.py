"""The findings of an audit as tables and as CSV, compared with known corrections of the gold queries."""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.revisions import Revision
from workbench.errors import naming
from workbench.evaluate.gold.audit.audit import KINDS, Finding
from workbench.spreadsheet import plain

ANY = "any kind"
_ABSENT = "-: no precision where none of the revision's questions was flagged, no recall where it corrects no query"
_WIDEST = 200  # characters of rows in the terminal
_FIELDS = ("kind", "question_id", "db_id", "question", "hint", "gold", "what", "columns", "rows", "probe")  # fmt: skip


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The findings on a benchmark, and the revisions that correct its gold queries."""

    benchmark: Benchmark
    findings: tuple[Finding, ...]
    revisions: Sequence[Revision] = ()

    def counts(self) -> pd.DataFrame:
        """A row for each kind of finding: its findings, its questions, and its precision and recall for each revision.

        Precision is the share of the kind's questions, among those of the revision, whose gold query it corrects;
        recall the share of the corrected questions that are found.
        """
        rows = []
        for kind in (*KINDS, ANY):
            of_kind = [one for one in self.findings if kind in {one.kind, ANY}]
            flagged = {one.question_id for one in of_kind}
            row: dict[str, Any] = {
                "kind": kind,
                "findings": len(of_kind),
                "questions": len(flagged),
            }
            for revision in self.revisions:
                corrected = {key for key, parts in revision.changes.items() if "SQL" in parts}
                judged = flagged & set(revision.changes)
                both = len(judged & corrected)
                row[f"{revision.name}: corrected"] = f"{both} of {len(judged)}"
                row[f"{revision.name}: precision"] = 100 * both / len(judged) if judged else None
                row[f"{revision.name}: recall"] = 100 * both / len(corrected) if corrected else None
            rows.append(row)
        return pd.DataFrame(rows)

    def as_text(self) -> str:
        """The findings by kind, and the table of counts at the end."""
        lines = [f"{self.benchmark.name}: {len(self.benchmark.questions)} gold queries"]
        texts = {question.id: question.text for question in self.benchmark.questions}
        for one in self.findings:
            lines += [
                f"\n{one.kind}: question {one.question_id} on {one.db_id}: {one.what}",
                f"  {texts[one.question_id]}",
                f"  {' '.join(self.benchmark.golds[one.question_id].sql.split())}",
            ]
            if one.rows:
                shown = "; ".join(", ".join(map(str, row)) for row in one.rows)
                shown = shown if len(shown) <= _WIDEST else f"{shown[:_WIDEST]} ..."
                lines.append(f"  {', '.join(one.columns)}: {shown}")
        counts = self.counts().astype(object)
        table = counts.where(counts.notna(), "-").to_string(
            index=False, float_format="{:.1f}".format
        )
        why = f"\n{_ABSENT}" if counts.isna().any(axis=None) else ""
        return "\n".join([*lines, "", table + why])

    def as_json(self) -> dict[str, Any]:
        """The findings and counts as one JSON object."""
        counts = self.counts().astype(object)
        return {
            "benchmark": self.benchmark.name,
            "questions": len(self.benchmark.questions),
            "counts": counts.where(counts.notna(), None).to_dict("records"),
            "findings": list(self._records()),
        }

    def write_csv(self, path: Path) -> None:
        """Write a row for each finding. Cells are escaped, so that no spreadsheet runs one as a formula."""
        with naming(path), path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(_FIELDS)
            for record in self._records():
                writer.writerow(
                    plain(json.dumps(cell, default=str) if isinstance(cell, list) else cell)
                    for cell in record.values()
                )

    def _records(self) -> Iterator[dict[str, Any]]:
        questions = {question.id: question for question in self.benchmark.questions}
        for one in self.findings:
            question, gold = questions[one.question_id], self.benchmark.golds[one.question_id].sql
            rows = [[v.hex() if isinstance(v, bytes) else v for v in row] for row in one.rows]
            about = (one.kind, one.question_id, one.db_id, question.text, question.evidence, gold)
            found = (one.what, list(one.columns), rows, one.probe)
            yield dict(zip(_FIELDS, (*about, *found), strict=True))
