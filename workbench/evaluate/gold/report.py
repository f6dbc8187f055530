"""Execution accuracy under other golds, as tables for a terminal and as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from workbench.benchmarks.revisions import ALSO, PARTS, Revision

OWN = "the benchmark's"
_NAMED = 5  # systems that are named; if there are more, only their number is given
_SHOWN = 20  # questions with a changed verdict that are listed; further ones are only counted


@dataclass(frozen=True, slots=True)
class UnderGolds:
    """Systems under the benchmark's gold and under each revision, by each system's first answer to a question."""

    sense: str
    accuracies: pd.DataFrame
    """A row for each gold and system: `n`, `ex`, `low` and `high` in percent; for a revision also `own_ex`, the EX under
    the benchmark's gold on the same questions, the paired `difference` with its interval and `p_value`, and how many
    verdicts became right and wrong."""
    changes: Sequence[Mapping[str, Any]]
    """A row for each revision and question that changed: what changed, the systems whose answer became right, and
    those whose answer became wrong."""
    revisions: tuple[Revision, ...]
    failed: Sequence[Mapping[str, Any]]
    """The revised gold queries that failed."""

    def as_text(self) -> str:
        """Tables for a terminal."""
        parts = [f"{self.sense} under each gold\n" + _shown(self.accuracies)]
        parts += [text for revision in self.revisions for text in self._about(revision)]
        return "\n\n".join(parts)

    def _about(self, revision: Revision) -> list[str]:
        """The changes of a revision."""
        counts = {part: sum(part in c for c in revision.changes.values()) for part in PARTS}
        if not counts[ALSO]:
            del counts[ALSO]
        left = f"; {revision.others} of its items are about other questions" * bool(revision.others)
        changes = [row for row in self.changes if row["gold"] == revision.name]
        moved = [row for row in changes if row["became_right"] or row["became_wrong"]]
        lines = [
            f"{revision.name}: {len(revision.questions)} questions; changed: "
            + ", ".join(f"{part} {count}" for part, count in counts.items())
            + f"{left}; verdicts changed on {len(moved)}"
        ]
        for row in moved[:_SHOWN]:
            names = (
                f"{word}: {_named(row[key])}"
                for word, key in (("right now", "became_right"), ("wrong now", "became_wrong"))
                if row[key]
            )
            lines.append(
                f"  question {row['question_id']} ({row['changed']} changed): {'; '.join(names)}"
            )
        if len(moved) > _SHOWN:
            lines.append(f"  and {len(moved) - _SHOWN} more; --json lists all")
        lines += [
            f"  the gold query of question {row['question_id']} failed: {row['gold_error']}"
            for row in self.failed
            if row["gold"] == revision.name
        ]
        return ["\n".join(lines)]

    def as_json(self) -> dict[str, Any]:
        """The tables as one JSON object."""
        accuracies = self.accuracies.round(4).astype(object)
        return {
            "sense": self.sense,
            "accuracies": accuracies.where(accuracies.notna(), None).to_dict("records"),
            "changes": self.changes,
            "failed": self.failed,
        }


def _shown(accuracies: pd.DataFrame) -> str:
    """The accuracies for a terminal, each interval in one column."""
    rows = []
    for row in accuracies.to_dict("records"):
        shown = {
            "gold": row["gold"],
            "system": row["system"],
            "n": row["n"],
            "EX": f"{row['ex']:.2f}",
            "95% interval": f"{row['low']:.1f} to {row['high']:.1f}",
        }
        if row["gold"] != OWN:
            ends = f"{row['difference_low']:+.1f} to {row['difference_high']:+.1f}"
            shown |= {
                "EX there by the benchmark's": f"{row['own_ex']:.2f}",
                "difference": f"{row['difference']:+.2f} ({ends})",
                "p": f"{row['p_value']:.3g}",
            }
        rows.append(shown)
    return pd.DataFrame(rows).fillna("").to_string(index=False)


def _named(systems: Sequence[str]) -> str:
    """The names of the systems, or their number if there are many."""
    return f"{len(systems)} systems" if len(systems) > _NAMED else " ".join(systems)
