"""YAML as people write it: read as plain data, or one line on why it cannot be."""

from pathlib import Path
from typing import Any

import yaml

from workbench.errors import BadInputError, naming


def read_yaml(path: Path) -> Any:
    """What the file holds. Tags that would make objects or run code are refused."""
    try:
        with naming(path):
            return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError) as error:  # of bytes that are no text, of 2020-13-45
        raise BadInputError(f"{path}: not YAML ({' '.join(str(error).split())})") from error
