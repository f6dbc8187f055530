"""Prompts are the same on every processor: BLAS and libm add in other orders, and no tie may notice.

OpenBLAS and glibc are told to use the instructions of other processors; those that this one lacks are left out.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BLAS = {
    "Haswell": "avx2",
    "Zen": "avx2",
    "SkylakeX": "avx512f",
    "Sandybridge": "avx",
    "Nehalem": "",
}
WITHOUT_AVX2 = {
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX2_Usable,-FMA_Usable"
}

# What is retrieved for each question by its own words, which asks no model.
CONTEXTS = """
import json, sys
import workbench as wb
from workbench.sql.texts import context_data
words = lambda lab, question: tuple(question.text.rstrip("?").split())
retrieval = wb.Retrieval(words, descriptions=wb.Descriptions(5))
spelling = wb.Retrieval(words, index=wb.Spelling())
with wb.open_study("bundled-dev", limit=int(sys.argv[1])) as study:
    for question in study.benchmark.questions:
        schema = study.lab.schema(question.db_id)
        for retrieve in (retrieval, spelling):
            context = retrieve(study.lab, question, schema)
            print(json.dumps([question.id, context_data(context), str(context.values)]))
"""
# The keys of all calls of all systems, whose model is the embedded one.
KEYS = """
import sys
from dataclasses import replace
import workbench as wb
asked = set()
with wb.open_study("bundled-dev", limit=int(sys.argv[1])) as study:
    watch = lambda request, data: asked.add((request.prompt, study.lab.client.key(request)))
    lab = replace(study.lab, watch=watch)
    for make in (study.chase_sql, study.chess_ir_cg_ut, study.chess_ir_ss_cg, study.mac_sql):
        for question in study.benchmark.questions:
            wb.solve(make(), question, lab)
print(*sorted(map(" ".join, asked)), sep="\\n")
"""


def environments():
    """The variables of each emulated processor."""
    flags = Path("/proc/cpuinfo")
    known = flags.read_text().split() if flags.exists() else []
    emulated = [
        {"OPENBLAS_CORETYPE": core}
        for core, needs in BLAS.items()
        if not needs or needs in known
    ]
    return [*emulated, WITHOUT_AVX2]


def printed(script, limit, variables, home):
    environment = {**os.environ, **variables, "WORKBENCH_HOME": str(home)}
    command = [sys.executable, "-c", script, str(limit)]
    ran = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout
    return ran.stdout.splitlines()


def test_contexts_are_the_same_on_two_processors(tmp_path):
    first, *_, last = [e for e in environments() if "OPENBLAS_CORETYPE" in e]
    one, other = (
        printed(CONTEXTS, 60, e, tmp_path / str(n)) for n, e in enumerate((first, last))
    )
    assert [json.loads(a)[0] for a, b in zip(one, other, strict=True) if a != b] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "limit"), [(CONTEXTS, 278), (KEYS, 20)], ids=["contexts", "keys"]
)
def test_prompts_are_the_same_on_every_processor(tmp_path, script, limit):
    first, *others = environments()
    expected = printed(script, limit, first, tmp_path / "first")
    for n, variables in enumerate(others):
        assert printed(script, limit, variables, tmp_path / str(n)) == expected, (
            variables
        )
