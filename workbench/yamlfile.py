"""Read a YAML file as plain data."""

from pathlib import Path
from typing import Any

import yaml

from workbench.errors import BadInputError, content_of


def read_yaml(path: Path) -> Any:
    """The file's data. YAML tags that create Python objects are refused."""
    try:
        return yaml.safe_load(content_of(path).decode())
    # ValueError: a text that is not UTF-8, or a date like 2020-13-45.
    except (yaml.YAMLError, ValueError) as error:
        raise BadInputError(f"{path}: not YAML ({' '.join(str(error).split())})") from error
