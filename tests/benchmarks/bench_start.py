"""How long a fresh process takes to begin, beside `import pandas`.

    python tests/benchmarks/bench_start.py [--quick]

Seconds of processor time, the best of some processes, without what Python itself takes to start. `import workbench` may
take 0.05 s, `workbench --help` 0.3 s, and opening a study on the bundled benchmark 1.5 s. Exits with 1 if a bar is missed.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
ROUNDS = 5 if "--quick" in sys.argv else 20
OPEN = 'import workbench as wb\nwith wb.open_study("bundled-dev"):\n    pass'
STARTS = {  # what is started, with its bar
    "Python": (("-c", ""), None),
    "import pandas": (("-c", "import pandas"), None),
    "import workbench": (("-c", "import workbench"), 0.05),
    "workbench --help": (("-m", "workbench", "--help"), 0.3),
    'wb.open_study("bundled-dev")': (("-c", OPEN), 1.5),
}


def spent():
    """Seconds of processor time of the processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def best(words, environment):
    """Seconds of processor time of a fresh process; the first one, which writes byte code, does not count."""
    seconds = []
    for _ in range(ROUNDS + 1):
        before = spent()
        command = [sys.executable, *words]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        seconds.append(spent() - before)
    return min(seconds[1:])


def main():
    missed = False
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"PYTHONPATH": str(CHECKOUT), "WORKBENCH_HOME": home}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        times = {name: best(words, environment) for name, (words, _) in STARTS.items()}
    pandas = times["import pandas"] - times["Python"]
    for name, (_, bar) in STARTS.items():
        if bar is not None:
            took = times[name] - times["Python"]
            missed |= took > bar
            print(
                f"{name}: {took:.3f} s, {took / pandas:.2f} of `import pandas`; bar {bar} s"
            )
    sys.exit(missed)


if __name__ == "__main__":
    main()
