"""Every public name has a docstring with its parts and a place in the page with an example.

The examples of the page are run.
"""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import netsharp
from tests.public.page import PAGE

TEXT = PAGE.read_text(encoding="utf-8")
#: What an example of the page is, and a file that it shows above its text.
BLOCK = re.compile(r"(?:`([\w./+-]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTIONS = {"Parameters", "Attributes", "Returns", "Raises", "Since"}
NAMES = [name for name in netsharp.__all__ if name != "__version__"]


def sections(text: str) -> dict[str, list[str]]:
    """The lines below each underlined heading of a docstring; those above them are ""."""
    found: dict[str, list[str]] = {"": []}
    lines = inspect.cleandoc(text).splitlines()
    current = ""
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if below and set(below) == {"-"}:
            found[current := line] = []
        elif not line or set(line) != {"-"}:
            found[current].append(line)
    return found


def entries(lines: list[str]) -> set[str]:
    """The names that a section describes: `a, b : type`, or `**rest : type`."""
    heads = [line for line in lines if line and not line.startswith(" ")]
    return {name.strip("* ") for head in heads for name in head.split(" : ")[0].split(",")}


def reported(lines: list[str]) -> bool:
    """Whether something is said of every entry."""
    return all(
        below.startswith("    ") or " : " in line or line == "None"
        for line, below in zip(lines, [*lines[1:], ""], strict=True)
        if line and not line.startswith(" ")
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_name_has_a_docstring_with_its_parts(name: str) -> None:
    value = getattr(netsharp, name)
    own = value.__doc__
    assert own, name
    found = sections(own)
    assert set(found) <= {"", *SECTIONS}
    assert re.fullmatch(r"\d+\.\d+", "".join(found["Since"]).strip())
    assert inspect.cleandoc(own).splitlines()[0].endswith(".")
    for heading in set(found) - {"", "Since"}:
        assert found[heading], heading
        assert reported(found[heading]), (name, heading)
    if inspect.isroutine(value):
        arguments = inspect.getargs(value.__code__)
        named = {*arguments.args, *filter(None, (arguments.varargs, arguments.varkw))}
        assert entries(found.get("Parameters", [])) == named
        assert {"Returns", "Raises"} <= set(found)


@pytest.mark.parametrize(
    "name", [name for name in NAMES if inspect.isclass(getattr(netsharp, name))]
)
def test_every_attribute_and_method_of_a_class_is_reported(name: str) -> None:
    value: Any = getattr(netsharp, name)
    if name == "TrainSettings":
        return
    found = sections(value.__doc__)
    attributes = entries(found.get("Attributes", [])) | entries(found.get("Parameters", []))
    for member in public_members(value):
        shown = getattr(value, member, None)
        if inspect.isroutine(shown):
            assert shown.__doc__, f"{name}.{member}"
        else:
            assert member in attributes, f"{name}.{member}"


def public_members(value: type) -> Iterator[str]:
    """What our own code gives a class: fields, properties, methods."""
    ours = [each for each in value.__mro__ if each.__module__.startswith("netsharp")]
    for each in ours:
        names = {*vars(each), *vars(each).get("__annotations__", {})}
        yield from sorted(name for name in names if not name.startswith("_"))


@pytest.mark.parametrize("name", netsharp.__all__)
def test_every_name_has_a_place_in_the_page_with_an_example(name: str) -> None:
    (part,) = re.findall(rf"^### `{re.escape(name)}`\n(.*?)(?=^##|\Z)", TEXT, re.M | re.DOTALL)
    examples = [block[2] for block in BLOCK.findall(part) if block[1] == "pycon"]
    assert any(f"netsharp.{name}" in example for example in examples)


def test_the_page_tells_of_nothing_else() -> None:
    assert sorted(re.findall(r"^### `(\w+)`$", TEXT, re.MULTILINE)) == sorted(netsharp.__all__)


def test_the_examples_of_the_page_say_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {}
    runner = doctest.DocTestRunner()
    parser = doctest.DocTestParser()
    for match in BLOCK.finditer(TEXT):
        name, kind, text = match.groups()
        if name is not None:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        elif kind == "pycon":
            line = TEXT.count("\n", 0, match.start(3))
            example = parser.get_doctest(text, known, "python.md", str(PAGE), line)
            runner.run(example, clear_globs=False)
            known = example.globs
    assert runner.tries > 30
    assert runner.failures == 0
