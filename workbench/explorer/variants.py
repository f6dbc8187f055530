"""Variants of systems: edits of their prompts under a name, kept until they are removed."""

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import orjson
import yaml
from sqlite_utils import Database

from workbench.canonical import content_hash, folder_hash
from workbench.errors import BadInputError
from workbench.explorer.recording import Edit, asked_prompts, changed
from workbench.lab import Lab
from workbench.prompts import Prompt, names
from workbench.store import home
from workbench.study.solve import model_names
from workbench.study.study import Study
from workbench.systems.system import System
from workbench.widgets import desk_file

Edits = Mapping[str, Edit]  # by the prompt's name
_NAME = r"\w[\w .-]{0,59}"


class Column(NamedTuple):
    """What a column runs: a system; a variant of it has a folder of prompts, too."""

    system: System
    prompts: Path | None = None
    base: str = ""  # the name of the system of which it is a variant
    edits: Edits = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Variant:
    """Edits of the prompts of the system of that name."""

    name: str
    system: str
    edits: Edits

    def built(self, system: System, lab: Lab) -> Column:
        """The system with the edits. Its prompts are written to a folder that their texts name."""
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
            fields = _fields(edit)
            edited_system = changed(system, name, fields)
            if fields and edited_system == system:
                raise BadInputError(
                    f"no step of {self.system} has the model of {name} alone"
                )
            system = edited_system
        return Column(system, folder, self.system, self.edits)


def _fields(edit: Edit) -> dict[str, Any]:
    """The fields of a step that an edit changes."""
    return {name: edit[name] for name in ("model", "temperature") if name in edit}


@dataclass(frozen=True, slots=True)
class VariantStore:
    """The variants on a benchmark and each system's last edits, in an SQLite file of the home."""

    path: Path

    @classmethod
    def of(cls, benchmark: str) -> Self:
        return cls(home() / "variants" / f"{benchmark}.sqlite")

    def variants(self) -> list[Variant]:
        """All variants, in the order in which they were kept."""
        with self._database() as database:
            rows = list(database.table("variants").rows_where(order_by="rowid"))
        variants = []
        for row in rows:
            edits = orjson.loads(row["edits"])
            variants.append(Variant(row["name"], row["system"], edits))
        return variants

    def variant(self, name: str) -> Variant:
        for variant in self.variants():
            if variant.name == name:
                return variant
        raise BadInputError(
            f"there is no variant {name!r}: it was removed or renamed elsewhere"
        )

    def keep(self, variant: Variant) -> None:
        self._check_free(variant.name)
        row = asdict(variant) | {"edits": _json(variant.edits)}
        with self._database() as database:
            database.table("variants").insert(row)

    def rename(self, before: str, name: str) -> None:
        self.variant(before)
        self._check_free(name)
        with self._database() as database, database.conn:
            update = "UPDATE variants SET name = ? WHERE name = ?"
            database.execute(update, [name, before])

    def remove(self, name: str) -> None:
        with self._database() as database, database.conn:
            database.execute("DELETE FROM variants WHERE name = ?", [name])

    def draft(self, system: str) -> Edits:
        """The edits of a system that were last on the page."""
        with self._database() as database:
            rows = list(database.table("drafts").rows_where("system = ?", [system]))
        if not rows:
            return {}
        edits: Edits = orjson.loads(rows[0]["edits"])
        return edits

    def write_draft(self, system: str, edits: Edits) -> None:
        with self._database() as database:
            row = {"system": system, "edits": _json(edits)}
            database.table("drafts").insert(row, replace=True)

    def _check_free(self, name: str) -> None:
        """Raise BadInputError where the name is taken or none."""
        if not re.fullmatch(_NAME, name):
            raise BadInputError(
                f"{name!r} is no name: give letters, digits, spaces, _, - and ."
            )
        if any(variant.name == name for variant in self.variants()):
            raise BadInputError(
                f"there is a variant {name!r} already: give another name"
            )

    @contextmanager
    def _database(self) -> Iterator[Database]:
        with desk_file(self.path, "variants") as database:
            variants = {"name": str, "system": str, "edits": str}
            database.table("variants").create(variants, pk="name", if_not_exists=True)
            drafts = {"system": str, "edits": str}
            database.table("drafts").create(drafts, pk="system", if_not_exists=True)
            yield database


def _json(edits: Edits) -> str:
    return orjson.dumps(edits).decode()


def write_folder(
    name: str,
    columns: Mapping[str, Column],
    notes: Mapping[str, str],
    study: Study,
) -> Path:
    """Write a folder in the home with each column's prompts and an experiment for them."""
    folder = home() / "variants" / name
    if not re.fullmatch(_NAME, name) or folder.exists():
        raise BadInputError(
            f"{name!r} is taken or no name: give letters, digits, _ and -"
        )
    experiments = {}  # before anything is written, since one may be refused
    for title, (system, prompts, _, edits) in columns.items():
        settings: dict[str, Any] = {
            "about": f"{system.name}, {title}: {notes[title]}",
            "benchmark": study.experiment.benchmark,
            "model": study.model,
        }
        if study.experiment.root:
            settings["root"] = str(study.experiment.root)
        if prompts and names(prompts):
            settings["prompts"] = title
        experiments[title] = settings | _model_settings(title, edits, system)
    folder.mkdir(parents=True)
    for title, settings in experiments.items():
        if "prompts" in settings:
            shutil.copytree(str(columns[title].prompts), folder / title)
        text = yaml.safe_dump(settings, sort_keys=False)
        (folder / f"{title}.yaml").write_text(text, encoding="utf-8")
    return folder


def _model_settings(title: str, edits: Edits, system: System) -> dict[str, Any]:
    """The settings for the edited model and temperature of a system that asks one prompt."""
    fields: dict[str, Any] = {}
    for edit in edits.values():
        fields |= _fields(edit)
    if not fields:
        return {}
    if len(asked_prompts(system, None)) > 1:
        raise BadInputError(
            f"{title} edits the {' and '.join(fields)} of one of several prompts, which no"
            " experiment can say: save it without, and use dataclasses.replace in a cell"
        )
    (model,) = model_names(system)
    settings: dict[str, Any] = {"model": model}
    if "temperature" in fields:
        settings["parameters"] = {model: {"temperature": fields["temperature"]}}
    return settings
