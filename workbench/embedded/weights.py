"""What each feature of a hypothesis is worth, as learned by `python -m workbench.train.parser`.

The file is read once, when this module is imported; answering opens none.
"""

import json
from pathlib import Path

PLACE = Path(__file__).with_name("weights.json")
WEIGHTS: dict[str, float] = json.loads(PLACE.read_text(encoding="utf-8"))
