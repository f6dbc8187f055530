"""What other systems than Linux do otherwise: macOS is guarded, Windows is refused."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from workbench.store import Store

CHECKOUT = Path(__file__).parents[1]
TRACKED = subprocess.run(
    ["git", "ls-files"], cwd=CHECKOUT, capture_output=True, text=True, check=False
).stdout.splitlines()


def test_windows_is_refused_by_one_sentence() -> None:
    program = "import sys; sys.platform = 'win32'; import workbench"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: workbench runs on Linux and macOS; on Windows")


def test_what_is_paid_for_leaves_the_disks_buffer_on_macos(tmp_path: Path) -> None:
    with Store(tmp_path / "lab.sqlite") as store, store.write() as connection:
        assert connection.execute("PRAGMA fullfsync").fetchone() == (1,)


@pytest.mark.skipif(not TRACKED, reason="needs git and a checkout")
def test_no_two_files_differ_by_case_alone() -> None:
    names = Counter(name.lower() for name in TRACKED)
    assert [name for name, times in names.items() if times > 1] == []
