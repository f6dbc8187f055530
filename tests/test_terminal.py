"""A name or a value that is printed cannot give a terminal orders, and cannot end the command."""

import io
import sys
from pathlib import Path

import pytest

from workbench.cli import main
from workbench.terminal import VisibleStream, bar_stream

HOSTILE = {
    "colour": ("\x1b[31mred", "\\x1b[31mred"),
    "bell": ("a\x07", "a\\x07"),
    "C1": ("\x9b2J", "\\x9b2J"),
    "overwritten line": ("a\rb", "a\\rb"),
    "right to left": ("\u202egnp", "\\u202egnp"),
    "Arabic mark": ("a\u061cb", "a\\u061cb"),
    "tag": ("a\U000e0041", "a\\U000e0041"),
    "half a character": ("a\udcff", "a\\udcff"),
}
hostile = pytest.mark.parametrize(("text", "shown"), HOSTILE.values(), ids=HOSTILE)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
@hostile
def test_a_stream_writes_escapes(text: str, shown: str, encoding: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding)
    print(text, file=VisibleStream(stream), flush=True)
    assert stream.buffer.getvalue() == f"{shown}\n".encode()


def test_a_character_that_the_encoding_lacks_is_an_escape() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), "ascii")
    print("é\tß", file=VisibleStream(stream), flush=True)
    assert stream.buffer.getvalue() == b"\\xe9\t\\xdf\n"


@pytest.mark.parametrize(
    "command",
    [
        ("ask", "NAME.sqlite", "question"),
        ("cache", "merge", "NAME"),
        ("reproduce", "NAME.yaml"),
    ],
    ids=lambda command: command[0],
)
@hostile
def test_an_error_shows_escapes(
    text: str,
    shown: str,
    command: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [word.replace("NAME", text) for word in command]
    monkeypatch.setattr(sys, "argv", ["workbench", *given])
    with pytest.raises(SystemExit, match="2"):
        main()
    written = capsys.readouterr().err
    assert shown in written.replace("\\\\", "\\")
    assert text not in written


def test_a_progress_bar_moves_the_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    for shown in (stream, VisibleStream(stream)):
        monkeypatch.setattr(sys, "stderr", shown)
        assert bar_stream() is stream


@pytest.mark.parametrize(
    "command",
    [
        ("ask", "NAME", "question"),
        ("cache", "merge", "NAME"),
        ("evaluate", "bundled-dev", "NAME"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
@pytest.mark.parametrize("name", ["long", "loop", "bytes", "device"])
def test_a_path_that_leads_to_no_file_of_use_is_one_line(
    name: str,
    command: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    Path("bytes").write_bytes(b"\xff\x00" * 100)
    path = {"long": "x" * 300, "device": "/dev/zero"}.get(name, name)
    monkeypatch.setattr(
        sys, "argv", ["workbench", *(w.replace("NAME", path) for w in command)]
    )
    with pytest.raises(SystemExit, match="2"):
        main()
    *_, line = capsys.readouterr().err.splitlines()
    assert line.startswith("workbench: ")
