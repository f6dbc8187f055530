"""The functions of `wb.labels`: find cases, label them, and read the labels."""

from workbench.label.agreement import agreement, agreement_by_category, confused, disputes
from workbench.label.cases import cases
from workbench.label.frames import errors, labels_frame, progress_frame
from workbench.label.queue.growing import find
from workbench.label.queue.pace import pace
from workbench.label.queue.plan import Plan
from workbench.label.queue.shares import shares
from workbench.label.queue.worth import worth
from workbench.label.store import LabelStore
from workbench.label.store.golds import peoples_gold
from workbench.label.suggest import against_labels, known_flaws
from workbench.label.taxonomy import open_taxonomy
from workbench.label.widget import adjudicate, label

__all__ = [
    "LabelStore",
    "Plan",
    "adjudicate",
    "against_labels",
    "agreement",
    "agreement_by_category",
    "cases",
    "confused",
    "disputes",
    "errors",
    "find",
    "known_flaws",
    "label",
    "labels_frame",
    "open_taxonomy",
    "pace",
    "peoples_gold",
    "progress_frame",
    "shares",
    "worth",
]
