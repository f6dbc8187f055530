"""A wheel has the notebooks and experiments, which lie beside the package in a checkout, too."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithNotebooks(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for name in ("notebooks", "experiments"):
                inside = Path(self.build_lib) / "workbench" / "_shipped" / name
                shutil.copytree(
                    name,
                    inside,
                    ignore=shutil.ignore_patterns(".*"),
                    dirs_exist_ok=True,
                )


setup(cmdclass={"build_py": WithNotebooks})
