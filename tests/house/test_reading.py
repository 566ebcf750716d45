"""Files are opened for reading in one place, which refuses pipes, devices and folders."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house.test_dependencies import MODULES
from tests.house.trees import nodes

#: Where else a file is opened, and why no pipe can stand there.
ALLOWED = {
    "netsharp_engine.plain_files": "the place itself",
    "netsharp_engine.atomic_files": "a folder or its own file, opened to be locked or compared",
    "netsharp_engine.memory": "the kernel's own figures",
    "netsharp_engine.data.reading.arrays": "numpy maps an array that was found plain, or opens it",
    "netsharp_engine.model_file": "safetensors opens a file that was found plain",
    "netsharp_lsp.diagnostics.pages": "the package's own pages",
    "netsharp_lsp.cntk.configuration.options.tables": "the package's own tables",
    "netsharp_lsp.cli.console.streams": "the null device in place of a closed stream",
    "netsharp_lsp.cntk.library": "the package's own library",
    "netsharp_lsp.cntk.library.documentation": "the package's own library",
}
#: Calls that open a file by its name: receiver and function.
OPENERS = frozenset(
    (
        *(("", "open"), ("io", "open"), ("os", "open"), ("gzip", "open"), ("", "safe_open")),
        *(("np", "load"), ("np", "loadtxt"), ("np", "fromfile"), ("np", "memmap")),
        *(("zipfile", "ZipFile"), ("parquet", "ParquetFile"), ("gzip", "GzipFile")),
    )
)
#: Methods of a path that read the file.
METHODS = frozenset(("read_bytes", "read_text"))


def opens(node: ast.Call) -> bool:
    """Whether a call opens a file by its name."""
    function = node.func
    if isinstance(function, ast.Name):
        return ("", function.id) in OPENERS
    if not isinstance(function, ast.Attribute):
        return False
    if function.attr in METHODS:
        return not node.args
    return (getattr(function.value, "id", None), function.attr) in OPENERS


def writes(node: ast.Call) -> bool:
    """Whether a file is opened to be written alone."""
    modes = [*node.args[1:2], *(each.value for each in node.keywords if each.arg == "mode")]
    parts = [part for mode in modes for part in ast.walk(mode)]
    words = [part.value for part in parts if isinstance(part, ast.Constant)]
    flags = {part.attr for part in parts if isinstance(part, ast.Attribute)}
    writing = (isinstance(word, str) and set(word) & set("wxa") for word in words)
    return "O_WRONLY" in flags or any(writing)


def is_opened(node: ast.Call) -> bool:
    """Whether what is opened is not a name: a stream, lines, or what `open_plain` gives."""
    names = {getattr(argument, "id", "") for argument in node.args[:1]}
    return any(each.arg == "fileobj" for each in node.keywords) or bool(
        names & {"lines", "stream"} or isinstance(next(iter(node.args), None), ast.Call)
    )


def readers(path: Path) -> list[int]:
    """The lines where a module opens a file by its name for reading."""
    calls = (node for node in nodes(path) if isinstance(node, ast.Call) and opens(node))
    return [node.lineno for node in calls if not writes(node) and not is_opened(node)]


def test_every_input_is_opened_in_one_place() -> None:
    found = {module: readers(MODULES[module]) for module in MODULES if module not in ALLOWED}
    found = {module: lines for module, lines in found.items() if lines}
    assert not found, f"open these with netsharp_engine.plain_files.open_plain: {found}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("open(path)", True),
        ("open(path, 'rb')", True),
        ("open(path, mode='wb')", False),
        ("Path(path).read_bytes()", True),
        ("np.load(path)", True),
        ("np.load(open_plain(path))", False),
        ("os.open(path, os.O_WRONLY)", False),
    ],
)
def test_the_search_finds_what_it_should(text: str, found: bool, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(text)
    assert bool(readers(tmp_path / "m.py")) == found
