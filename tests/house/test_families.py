"""Command line, project, settings and server name no language and import none.

They ask the registry, and what serves all languages knows none either. Imports of every level are
read, relative ones and those for types included; so are texts that name a module, an id, a suffix
or a code.
"""

from __future__ import annotations

import ast
import re

import pytest

from netsharp_lsp.__main__ import main
from netsharp_lsp.language import family_with, known_codes, language_ids, suffixes
from tests.house.test_circles import imported
from tests.house.test_dependencies import MODULES
from tests.house.trees import nodes

ROOMS = (
    "netsharp_lsp.__main__",
    "netsharp_lsp.start",
    "netsharp_lsp.cli",
    "netsharp_lsp.project",
    "netsharp_lsp.server",
    "netsharp_lsp.settings",
    "netsharp_lsp.family",
    "netsharp_lsp.text_family",
    "netsharp_lsp.questions",
    "netsharp_lsp.outcome",
    "netsharp_lsp.interface",
    "netsharp_lsp.examining",
    "netsharp_lsp.workspace",
    "netsharp_lsp.diagnostics",
    "netsharp_lsp.description",
    "netsharp_lsp.ide",
    "netsharp_lsp.layout",
    "netsharp_lsp.text",
)
INSIDE = ("netsharp_lsp.netsharp", "netsharp_lsp.cntk")
#: Where `netsharp` is the program, which has the name of its first language.
PROGRAM = {
    "netsharp_lsp.diagnostics.reports.sarif": "the tool that reports",
    "netsharp_lsp.cli.predict": "the program whose names of columns are meant",
    "netsharp_lsp.project.roots": "the folder of the person's own settings",
    "netsharp_lsp.server.offers.capabilities": "what a client tells our diagnostics by",
    "netsharp_lsp.server.handlers.workspace.lifecycle": "what the server is called",
    "netsharp_lsp.server.surroundings.preferences": "the section of the editor's settings",
    "netsharp_lsp.server.transport.protocol": "what the server is called",
    "netsharp_lsp.server.answers.publishing": "what says something is wrong",
    "netsharp_lsp.settings": "the program whose table another's file may hold",
}
#: Texts that name a language as an example for people, or where the word means something else.
ELSEWHERE = {
    ("netsharp_lsp.cli.explain", "codes as in a report: NS074"),
    (
        "netsharp_lsp.cli.explain",
        "explain needs a code, as in 'netsharp explain NS074'; --all lists them.",
    ),
    ("netsharp_lsp.cli.migrate", "overwrite .bs files whose content differs"),
    ("netsharp_lsp.project.git.ignored", ".config"),
    ("netsharp_lsp.project.roots", "~/.config"),
    ("netsharp_lsp.server.offers.capabilities", "source.fixAll.netsharp"),
    ("netsharp_lsp.server.handlers.actions", "source.fixAll.netsharp"),
    ("netsharp_lsp.server.commands.explain", "a code such as NS074"),
}

ASKING = sorted(name for name in MODULES if name.startswith(ROOMS))
_SUFFIX = re.compile(rf"(?:{'|'.join(map(re.escape, suffixes()))})(?!\w)")
_PREFIXES = {code.rstrip("0123456789b") for code in known_codes()}
#: The languages as people call them.
_NAME = re.compile(r"Net#|\bCNTK\b|\b(?:NDL|MEL)\b|BrainScript")
_CODE = re.compile(rf"\b(?:{'|'.join(sorted(_PREFIXES))})(?:\d+b?)?\b")


def texts(module: str) -> list[tuple[int, str]]:
    """The texts in a module outside its documentation, with their lines."""
    inside = nodes(MODULES[module])
    documentation = {
        id(node.value)
        for node in inside
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        (node.lineno, node.value if isinstance(node.value, str) else node.value.decode("latin-1"))
        for node in inside
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str | bytes)
        and id(node) not in documentation
    ]


def named_in(text: str) -> list[str]:
    """What of a language a text names: an id, suffixes, codes, a name, a module."""
    named = [one for one in language_ids() if text == one]
    named += _SUFFIX.findall(text) + _CODE.findall(text) + _NAME.findall(text)
    return named + [room for room in INSIDE if text == room or text.startswith(f"{room}.")]


def test_nothing_below_an_entry_point_is_imported() -> None:
    found = {one: [name for name in imported(one) if name.startswith(INSIDE)] for one in ASKING}
    assert not any(found.values()), {one: names for one, names in found.items() if names}


def test_no_language_is_named() -> None:
    found = {
        f"{module}:{line}: {text!r} names {named}"
        for module in ASKING
        for line, text in texts(module)
        if (named := named_in(text))
        and (module, text) not in ELSEWHERE
        and not (text == "netsharp" and module in PROGRAM)
    }
    assert not found, "\n".join(sorted(found))


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_is_there(room: str) -> None:
    assert any(one == room or one.startswith(f"{room}.") for one in ASKING)


def test_help_says_what_families_do(capsys: pytest.CaptureFixture[str]) -> None:
    """A command that is there for some languages alone is described by their family."""
    reported = (
        family_with(lambda one: one.configurations).purpose,
        family_with(lambda one: one.migrations).purpose,
    )
    assert main(["--help"]) == 0
    listed = capsys.readouterr().out
    for name, purpose in zip(("config", "migrate"), reported, strict=True):
        assert re.search(rf"^  {name} +{re.escape(purpose)}$", listed, re.MULTILINE)
        assert main([name, "--help"]) == 0
        assert f"\n{purpose[0].upper()}{purpose[1:]}.\n" in capsys.readouterr().out


def test_no_exception_is_left_over() -> None:
    reported = {(module, text) for module in ASKING for _, text in texts(module)}
    assert reported >= ELSEWHERE
    assert reported >= {(module, "netsharp") for module in PROGRAM}


def test_what_names_a_language_is_seen() -> None:
    assert named_in("cntk") == ["cntk"]
    assert named_in("**/*.nn") == [".nn"]
    assert named_in(".bs") == [".bs"]
    assert named_in("networks of NDL") == ["NDL"]
    assert named_in("NS") == ["NS"]
    assert named_in("see CK119") == ["CK119"]
    assert "netsharp_lsp.cntk" in named_in("netsharp_lsp.cntk.languages")
    assert not named_in("config") + named_in(".bst") + named_in("NSA")
