"""Another processor, locale or number of threads changes neither a call's key nor a number."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.store import Store
from workbench.study.experiment import shipped

PROC = Path("/proc/cpuinfo")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROC.exists(), reason="needs /proc"),
]
NOTEBOOKS = ("chess/schema_linking", "mac_sql/end_to_end")
# Else SkylakeX's code ends the process.
WIDE = PROC.exists() and "avx512f" in PROC.read_text()
MACHINES = {
    "wide": {"OPENBLAS_CORETYPE": "SkylakeX" if WIDE else "Sandybridge"},
    "elsewhere": {
        "PYTHONHASHSEED": "7",
        "LC_ALL": "C",
        "TZ": "Asia/Tokyo",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    },
    "old": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-FMA,-FMA_Usable"},
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The keys of all calls and the content of all CSVs of a few notebooks, in an environment."""

    def ran(name, variables):
        folder = tmp_path_factory.mktemp(name)
        (folder / "experiments").mkdir()
        path = shutil.copy(
            shipped("experiments") / "embedded.yaml", folder / "experiments"
        )
        command = [
            sys.executable,
            "-m",
            "workbench",
            "reproduce",
            path,
            "--at-once",
            "1",
        ]
        for notebook in NOTEBOOKS:
            command += ["--only", notebook]
        environment = os.environ | {"WORKBENCH_HOME": str(folder / "home")} | variables
        done = subprocess.run(command, env=environment, cwd=folder, check=False)
        assert done.returncode == 0
        with Store(folder / "home" / "lab.sqlite") as store:
            keys = store.read("SELECT key FROM calls ORDER BY key")
        files = sorted((folder / "figures" / "embedded").glob("*.csv"))
        return keys, {file.name: file.read_bytes() for file in files}

    return ran


@pytest.fixture(scope="module")
def haswell(ran):
    return ran("Haswell", {"OPENBLAS_CORETYPE": "Haswell"})


@pytest.mark.parametrize("machine", MACHINES)
def test_keys_of_calls_and_numbers_are_equal_to_the_byte_on_every_machine(
    ran, haswell, machine
):
    keys, files = ran(machine, MACHINES[machine])
    expected, same_files = haswell
    assert keys
    assert len(set(keys) ^ set(expected)) == 0
    assert files == same_files
