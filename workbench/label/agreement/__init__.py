"""Agreement of annotators beyond chance, with intervals; disputes; confusion tables that open their cases."""

from workbench.label.agreement.confused import Confused, confused
from workbench.label.agreement.disputes import ADJUDICATOR, DISPUTED, disputes, final
from workbench.label.agreement.tables import (
    agreement,
    agreement_by_category,
    cohen_kappa,
    confusion,
    fleiss_kappa,
    krippendorff_alpha,
)

__all__ = [
    "ADJUDICATOR",
    "DISPUTED",
    "Confused",
    "agreement",
    "agreement_by_category",
    "cohen_kappa",
    "confused",
    "confusion",
    "disputes",
    "final",
    "fleiss_kappa",
    "krippendorff_alpha",
]
