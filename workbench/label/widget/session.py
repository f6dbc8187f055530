"""A labelling session, which each key or click changes by a step. The panel draws the session; no step draws."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.label.agreement.disputes import ADJUDICATOR
from workbench.label.case import Case
from workbench.label.store import Label, LabelStore, label_of
from workbench.label.store.golds import BOTH_RIGHT, CORRECTED, GOLD, NO_VERDICT, gold_verdict
from workbench.label.suggest import AUTOMATIC
from workbench.label.taxonomy import FILTERS, Taxonomy, choice_name
from workbench.label.widget.keys import Keys, keys


@dataclass(slots=True)
class Session:
    """An annotator's position among the cases, and the result of the last step."""

    cases: Sequence[Case]
    taxonomy: Taxonomy
    store: LabelStore
    annotator: str
    lab: Lab | None = None  # runs queries
    changed_keys: Mapping[str, str] | None = None  # see `keys`
    at: int = 0  # the index of the case that is shown
    filter: str = "all"
    advance: bool = True  # show the next case after a label
    adjudicates: bool = False  # the annotator is the adjudicator and sees the others' labels
    help: bool = False  # show the keys in place of the case
    status: str = ""  # what the last step did
    skipped: set[int] = field(default_factory=set)
    trail: list[int] = field(default_factory=list)  # the indexes of the cases shown before
    notes: dict[int, str] = field(default_factory=dict)  # unsaved notes by the case's index
    keys: Keys = field(init=False)

    def __post_init__(self) -> None:
        self.keys = keys(self.taxonomy, self.changed_keys)
        check_annotator(self.annotator, adjudicates=self.adjudicates)
        self._begin()

    def _begin(self) -> None:
        """Show the annotator's first case without a label."""
        self.at = next(filter(self._is_unlabelled, range(len(self.cases))), 0)

    def step(
        self, do: str, value: str = "", note: str | None = None, seen: int | None = None
    ) -> None:
        """Take the step of a key or a click. `note` is the text in the note's field.

        `seen` is the index of the case that the browser showed: a label, note or skip for another case is ignored.
        """
        steps: dict[str, Callable[[str], None]] = {
            "choose": self._choose,
            "note": self._note,
            "draft": lambda _: None,  # keeps the note, as every step does
            "skip": self._skip,
            "undo": self._undo,
            "back": self._back,
            "next": lambda _: self._move(1),
            "previous": lambda _: self._move(-1),
            "jump": self._jump,
            "filter": self._filter,
            "annotator": self._change_annotator,
            **dict.fromkeys(("advance", "help"), lambda _: self._switch(do)),
            "correct gold": self._correct_gold,
            "both right": self._mark_both_right,
        }
        if do not in steps:
            raise BadInputError(f"no step {do!r}; there are {', '.join(steps)}")
        self.store.refresh()
        stale = seen not in {None, self.at}
        if stale and do in {"choose", "note", "skip"}:
            self.status = f"ignored a key pressed before case {self.at + 1} was shown"
            return
        if note is not None and not stale:
            self.notes[self.at] = note
        if self.cases:
            steps[do](value)

    def label(self, at: int) -> Label | None:
        """The label that the session's annotator gave to a case."""
        return self.store.of(self.cases[at].key, self.taxonomy.name, self.annotator)

    def note(self) -> str:
        """The text for the note's field."""
        label = self.label(self.at)
        return self.notes.get(self.at, label.note if label else "")

    def matches(self, at: int) -> bool:
        """Whether the filter shows this case."""
        label = self.label(at)
        is_new, skipped = label is None, at in self.skipped
        by_filter = {"all": True, "to do": is_new, "labelled": not is_new, "skipped": skipped}
        return by_filter.get(self.filter, label is not None and label.category == self.filter)

    def _is_unlabelled(self, at: int) -> bool:
        return at not in self.skipped and self.label(at) is None

    def go(self, at: int) -> None:
        """Show a case, given by its index."""
        if at != self.at:
            self.trail.append(self.at)
            self.at = at

    def _move(self, by: int) -> None:
        ahead = range(self.at + by, len(self.cases) if by > 0 else -1, by)
        at = next(filter(self.matches, ahead), None)
        self.status = "" if at is not None else f"no {'later' if by > 0 else 'earlier'} case"
        self.go(self.at if at is None else at)

    def _next_to_label(self) -> int:
        """The next case that is left to label, after this case or else before it; this case if there is none."""
        others = [*range(self.at + 1, len(self.cases)), *range(self.at)]
        return next(filter(self._is_unlabelled, others), self.at)

    def _advance_to_unlabelled(self) -> None:
        at = self._next_to_label()
        if at == self.at:
            self.status += "; no case is left to label"
        elif self.advance:
            self.go(at)

    def _choose(self, value: str) -> None:
        category, _, part = value.partition("\n")
        self.taxonomy.check(category, part)
        self._save(category, part)
        self.status = f"labelled {choice_name(category, part)}"
        self._advance_to_unlabelled()

    def _save(self, category: str, part: str) -> None:
        self._add(self.taxonomy.name, category, part, self.note())
        self.notes.pop(self.at, None)
        self.skipped.discard(self.at)

    def _add(self, taxonomy: str, category: str, part: str = "", note: str = "") -> None:
        case, name = self.cases[self.at], self.annotator
        self.store.add([label_of(case, taxonomy, category, part, annotator=name, note=note)])

    def _note(self, _: str) -> None:
        label = self.label(self.at)
        if label and self.note() != label.note:
            self._save(label.category, label.subcategory)
            self.status = "note saved"
        elif not label:
            self.status = "the note is saved with the category"

    def _skip(self, _: str) -> None:
        self.skipped.add(self.at)
        self.status = "skipped"
        self._advance_to_unlabelled()

    def _undo(self, _: str) -> None:
        label = self.store.undo(self.annotator, self.taxonomy.name, GOLD)
        if label is None:
            self.status = "nothing to undo"
            return
        self.status = f"took back {choice_name(label.category, label.subcategory)}"
        at = next((at for at, case in enumerate(self.cases) if case.key == label.key), None)
        if at is None:
            self.status += f", of question {label.question_id}, which is not among these cases"
            return
        self.go(at)
        if label.taxonomy != GOLD:
            self.notes[at] = label.note  # need not be written again

    def _back(self, _: str) -> None:
        self.status = "" if self.trail else "this is the first case that was shown"
        if self.trail:
            self.at = self.trail.pop()

    def _filter(self, value: str) -> None:
        names = [*FILTERS, *(category.name for category in self.taxonomy.categories)]
        if value not in names:
            raise BadInputError(f"no filter {value!r}; there are {', '.join(names)}")
        self.filter = value
        matching = [at for at in range(len(self.cases)) if self.matches(at)]
        self.status = f"{len(matching)} of {len(self.cases)} cases: {value}"
        if matching and self.at not in matching:
            self.go(matching[0])

    def _jump(self, value: str) -> None:
        number = int(value) if value.strip().isdecimal() else 0
        if not 0 < number <= len(self.cases):
            raise BadInputError(f"no case {value!r}: give a number from 1 to {len(self.cases)}")
        self.status = ""
        self.go(number - 1)

    def _change_annotator(self, value: str) -> None:
        name = value.strip()
        if self.adjudicates:
            raise BadInputError("the adjudicator's name is fixed: label in a labeller of your own")
        check_annotator(name)
        self.annotator = name
        for one in (self.skipped, self.trail, self.notes):
            one.clear()
        self._begin()
        self.status = f"labelling as {name}"

    def _correct_gold(self, sql: str) -> None:
        """Save the right query, if it gives a result."""
        if self.lab is None:
            raise BadInputError(
                "a corrected query is run before it is saved: open the labeller with study.lab"
            )
        execution = self.lab.run(self.cases[self.at].question, sql)
        if not execution.is_complete:
            raise BadInputError(f"not saved, since the query gives no result: {execution.error}")
        self._add(GOLD, CORRECTED, note=sql)
        self.status = f"gold is corrected; the query gives {execution.row_count:,} rows"

    def _mark_both_right(self, _: str) -> None:
        """Mark gold and the prediction as both right, or take that mark back."""
        given = gold_verdict(self.store, self.cases[self.at], self.annotator)
        marked = given is not None and given.category == BOTH_RIGHT
        self._add(GOLD, NO_VERDICT if marked else BOTH_RIGHT)
        self.status = "the prediction is wrong again" if marked else "both queries are right"

    def _switch(self, name: str) -> None:
        setattr(self, name, not getattr(self, name))


def check_annotator(annotator: str, *, adjudicates: bool = False) -> None:
    """Raise BadInputError if the name is empty or reserved."""
    name = annotator.strip().lower()
    if not name:
        raise BadInputError("annotator is empty: give the name under which to label")
    if name == AUTOMATIC or (name == ADJUDICATOR and not adjudicates):
        owner = "rules" if name == AUTOMATIC else "the adjudicator of disputed cases"
        raise BadInputError(f"annotator {annotator!r} is reserved for {owner}: give another name")
