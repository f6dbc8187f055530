"""Labels, kept in SQLite."""

from workbench.label.store.label import FIELDS, Label, label_of, record_of
from workbench.label.store.store import LabelStore

__all__ = ["FIELDS", "Label", "LabelStore", "label_of", "record_of"]
