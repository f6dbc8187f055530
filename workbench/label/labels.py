"""The functions of `wb.labels`: find cases, label them, and read the labels."""
# ruff: noqa: PLC0414  an import of a name as itself exports it

from workbench.label.agreement.disputes import disputes as disputes
from workbench.label.agreement.tables import agreement as agreement
from workbench.label.cases import cases as cases
from workbench.label.frames import errors as errors
from workbench.label.frames import labels_frame as labels_frame
from workbench.label.frames import progress_frame as progress_frame
from workbench.label.store import LabelStore as LabelStore
from workbench.label.store.golds import peoples_gold as peoples_gold
from workbench.label.suggest import known_flaws as known_flaws
from workbench.label.taxonomy import open_taxonomy as open_taxonomy
from workbench.label.widget.labeller import adjudicate as adjudicate
from workbench.label.widget.labeller import label as label
