"""The lists in pyproject.toml name every package and every file that a package needs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
ROOTS = {"netsharp": ROOT, "netsharp_lsp": ROOT}
ROOTS |= dict.fromkeys(("netsharp_compile", "netsharp_engine"), ROOT / "engine")


def test_every_package_is_listed() -> None:
    found = {
        ".".join(path.parent.relative_to(root).parts)
        for name, root in ROOTS.items()
        for path in (root / name).rglob("__init__.py")
    }
    listed = {name for name in SETUPTOOLS["packages"] if not name.startswith("netsharp_grammar")}
    assert found == listed


def test_every_listed_file_is_there() -> None:
    directories = SETUPTOOLS["package-dir"]
    for package, patterns in SETUPTOOLS["package-data"].items():
        directory = ROOT / directories.get(package, package)
        for pattern in patterns:
            assert list(directory.glob(pattern)), f"{package}: {pattern}"


def test_windows_finds_every_function_of_python() -> None:
    """A wheel for Windows is linked against this list alone, and other platforms against none."""
    folders = (ROOT / "engine" / "netsharp_engine" / "twins", ROOT / "grammar" / "netsharp_grammar")
    sources = [path for folder in folders for path in folder.glob("*.[ch]")]
    called = {
        name
        for path in sources
        for name in re.findall(r"\b(Py[A-Z][a-z]+[A-Za-z]*_\w+) ?\(", path.read_text("utf-8"))
        if not name.startswith(("PyInit_", "PyModule_Create"))
    }
    listed = set((ROOT / "packaging" / "python3.def").read_text("utf-8").split())
    assert len(called) > 10
    assert called <= listed


def test_every_compiled_twin_is_built() -> None:
    """On Linux a library that lacks a source is linked, and fails where it is imported."""
    text = (ROOT / "setup.py").read_text("utf-8")
    folder = ROOT / "engine" / "netsharp_engine" / "twins"
    for suffix, name in ((".c", "SOURCES"), (".h", "HEADERS")):
        found = re.search(rf"^{name} = \(([^)]*)\)", text, re.MULTILINE)
        assert found is not None
        listed = set(re.findall(r'"(\w+)"', found[1]))
        assert listed == {path.stem for path in folder.glob(f"*{suffix}")}
