"""The functions of `wb.labels`: find cases, label them, and read the labels."""
# ruff: noqa: PLC0414  an import of a name as itself exports it

from workbench.label.agreement import agreement as agreement
from workbench.label.agreement import disputes as disputes
from workbench.label.cases import cases as cases
from workbench.label.figures import by_rule as by_rule
from workbench.label.figures import errors as errors
from workbench.label.figures import known_flaws as known_flaws
from workbench.label.figures import save as save
from workbench.label.figures import shares as shares
from workbench.label.golds import write_golds as write_golds
from workbench.label.labeller import label as label
from workbench.label.store import LabelStore as LabelStore
from workbench.label.taxonomy import open_taxonomy as open_taxonomy
