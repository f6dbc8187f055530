"""Variants of systems: edits of their prompts under a name, kept until they are removed."""

import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import orjson

from workbench.canonical import content_hash, folder_hash
from workbench.errors import BadInputError, naming
from workbench.explorer.recording import Edit, changed
from workbench.lab import Lab
from workbench.prompts import Prompt, check_folder
from workbench.store import home
from workbench.systems.system import System

Edits = Mapping[str, Edit]  # by the prompt's name


class Column(NamedTuple):
    """What a column runs: a system; a variant of it has a folder of prompts, too."""

    system: System
    prompts: Path | None = None
    base: str = ""  # the name of the system of which it is a variant


@dataclass(frozen=True, slots=True)
class Variant:
    """Edits of the prompts of the system of that name, and the time `at` which they were kept.

    No two variants were kept at the same time, so it tells which is which under any name.
    """

    name: str
    system: str
    edits: Edits
    at: int = 0

    def built(self, system: System, lab: Lab) -> Column:
        """The system with the edits, and a folder of its prompts that is named by their texts.

        The prompts are in the steps, too: one that has its prompt from a cell reads no folder, and
        one that names its prompts in its code reads nothing else.
        """
        before = folder_hash(lab.prompts) if lab.prompts else ""
        key = content_hash("variant", [self.system, before, self.edits])[-12:]
        folder = home() / "variants" / ".prompts" / key
        folder.mkdir(parents=True, exist_ok=True)
        if lab.prompts:
            shutil.copytree(lab.prompts, folder, dirs_exist_ok=True)
        for name, edit in self.edits.items():
            if "source" in edit:
                prompt = Prompt(edit["source"], name)
                file = folder / f"{name}.md"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(prompt.source, encoding="utf-8")
                system = changed(system, name, {"prompt": prompt})
            fields = {}
            for field in ("model", "temperature"):
                if field in edit:
                    fields[field] = edit[field]
            edited_system = changed(system, name, fields)
            if fields and edited_system == system:
                raise BadInputError(
                    f"no step of {self.system} has the model of {name} alone"
                )
            system = edited_system
        return Column(system, folder, self.system)


@dataclass(frozen=True, slots=True)
class VariantStore:
    """The variants on a benchmark and each system's last edits, a JSON file each.

    Several programs may write at once: a file is written elsewhere and then linked to its name,
    which fails if there is one. So two variants never have the same name.
    """

    folder: Path

    @classmethod
    def of(cls, benchmark: str) -> Self:
        return cls(home() / "variants" / ".kept" / benchmark)

    def variants(self) -> list[Variant]:
        """All variants, in the order in which they were kept."""
        variants = []
        for file in self.folder.glob("*.json"):
            # Others put files here, too, and one may be gone by now.
            with suppress(BadInputError):
                variants.append(self.variant(file.stem))
        return sorted(variants, key=lambda variant: (variant.at, variant.name))

    def names(self) -> set[str]:
        """The names that are taken, without capitals; also those of files that are no variant."""
        return {file.stem.casefold() for file in self.folder.glob("*.json")}

    def variant(self, name: str) -> Variant:
        file = self._file(name)
        try:
            return Variant(name, **orjson.loads(file.read_bytes()))
        except (OSError, ValueError, TypeError):
            raise BadInputError(
                f"there is no variant {name!r}: it was removed or renamed elsewhere, or {file} is"
                " damaged"
            ) from None

    def keep(self, variant: Variant) -> None:
        fields = asdict(variant)
        name = fields.pop("name")
        with self._written(fields) as file:
            self._move(file, name)

    def rename(self, before: str, name: str) -> None:
        self.variant(before)
        self._move(self._file(before), name)

    def remove(self, name: str) -> None:
        self._file(name).unlink(missing_ok=True)

    def draft(self, system: str) -> Edits:
        """The edits of a system that were last on the page."""
        file = self._draft_file(system)
        if not file.exists():
            return {}
        edits: Edits = orjson.loads(file.read_bytes())
        return edits

    def write_draft(self, system: str, edits: Edits) -> None:
        with self._written(edits) as file:
            file.replace(self._draft_file(system))

    def _move(self, file: Path, name: str) -> None:
        """Move a file to the name, unless another file has it."""
        kept = self._file(name)
        with naming(kept):
            try:
                os.link(file, kept)
                file.unlink()
            except FileExistsError:
                if not kept.samefile(file):
                    raise BadInputError(
                        f"there is a variant {name!r} already: give another name"
                    ) from None
                file.replace(kept)  # v1 becomes V1 where capitals do not count

    @contextmanager
    def _written(self, value: Any) -> Iterator[Path]:
        """Write a file without a name of its own, which is gone at the end if it was not moved."""
        file = self.folder / f".{uuid.uuid4().hex}"
        with naming(file):
            self.folder.mkdir(parents=True, exist_ok=True)
            file.write_bytes(orjson.dumps(value))
        try:
            yield file
        finally:
            file.unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self.folder / f"{_checked(name)}.json"

    def _draft_file(self, system: str) -> Path:
        key = content_hash("draft", system)[-12:]
        return self.folder / f"{key}.draft"


def _checked(name: str) -> str:
    """Return a name that stays in its folder."""
    if not re.fullmatch(r"\w[\w .-]{0,59}", name):
        raise BadInputError(
            f"{name!r} is no name: give letters, digits, spaces, _, - and ."
        )
    return name


def save_prompts(name: str, folders: Mapping[str, Path]) -> Path:
    """Copy folders of prompts under their names into a new folder of the home; return it."""
    for folder in folders.values():
        check_folder(folder)
    saved = home() / "variants" / _checked(name)
    if saved.exists():
        raise BadInputError(f"{name!r} is taken: give another name")
    for title, folder in folders.items():
        shutil.copytree(folder, saved / title)
    return saved
