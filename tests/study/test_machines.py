"""Another processor, locale or number of threads changes neither a call's key nor a number."""

import os
import shutil
import subprocess
import sys

import pytest

from workbench.store import Store
from workbench.study.experiment import shipped

pytestmark = pytest.mark.slow
NOTEBOOKS = ("chess/schema_linking", "mac_sql/end_to_end")
MACHINES = {
    "Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX"},
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
def made(tmp_path_factory):
    """The keys of all calls, and the content of all CSVs, by machine."""
    made = {}
    for machine, variables in MACHINES.items():
        folder = tmp_path_factory.mktemp(machine)
        (folder / "experiments").mkdir()
        path = shutil.copy(shipped("experiments") / "embedded.yaml", folder / "experiments")
        command = [sys.executable, "-m", "workbench", "reproduce", path]
        for name in NOTEBOOKS:
            command += ["--only", name]
        environment = os.environ | {"WORKBENCH_HOME": str(folder / "home")} | variables
        subprocess.run(command, env=environment, cwd=folder, check=True)
        with Store(folder / "home" / "lab.sqlite") as store:
            keys = store.read("SELECT key FROM calls ORDER BY key")
        files = sorted((folder / "figures" / "embedded").glob("*.csv"))
        made[machine] = keys, {file.name: file.read_bytes() for file in files}
    return made


@pytest.mark.parametrize("machine", list(MACHINES)[1:])
def test_calls_have_the_same_keys_on_every_machine(made, machine):
    assert made[machine][0]
    assert made[machine][0] == made["Haswell"][0]


@pytest.mark.parametrize("machine", list(MACHINES)[1:])
def test_numbers_are_equal_to_the_byte_on_every_machine(made, machine):
    assert made[machine][1]
    assert made[machine][1] == made["Haswell"][1]
