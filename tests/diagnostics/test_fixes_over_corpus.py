"""Laws of fixes over every specification of the corpus."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.fixes import ROUNDS, fix_all
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.examining import examine
from netsharp_lsp.language import language_by_id
from netsharp_lsp.netsharp.describe import describe_network
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.reading.parser import parse
from netsharp_lsp.text.decode import Source, decode
from netsharp_lsp.text.edits import apply_edits
from netsharp_lsp.text.lines import LineIndex

CORPUS = pathlib.Path(__file__).parent.parent / "corpus"
FILES = [
    path for path in sorted(CORPUS.rglob("*.nn")) if isinstance(decode(path.read_bytes()), Source)
]
SOUND = [path for path in FILES if path.parent.name == "valid"]
LANGUAGE = language_by_id("netsharp")


def check(text: bytes) -> list[Diagnostic]:
    return examine(LANGUAGE, LineIndex(text), Context(), Selection())


def text_of(path: pathlib.Path) -> bytes:
    source = decode(path.read_bytes())
    assert isinstance(source, Source)
    return source.text


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "all"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_fixes_come_to_a_fixed_point_and_leave_none(path: pathlib.Path, unsafe: bool) -> None:
    fixed = fix_all(text_of(path), check, unsafe)
    left = [d for d in fixed.diagnostics if d.fix is not None and (unsafe or d.fix.safe)]
    assert fixed.rounds < ROUNDS
    assert left == []
    assert fix_all(fixed.text, check, unsafe).text == fixed.text


@pytest.mark.parametrize("path", SOUND, ids=lambda path: path.stem)
def test_safe_fixes_of_a_sound_file_add_no_error_or_warning(path: pathlib.Path) -> None:
    def severe(diagnostics: list[Diagnostic]) -> list[str]:
        return sorted(d.code for d in diagnostics if d.severity in ("error", "warning"))

    text = text_of(path)
    before = severe(check(text))
    assert set(severe(list(fix_all(text, check).diagnostics))) <= set(before)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_spans_lie_in_the_text_at_ends_of_characters(path: pathlib.Path) -> None:
    text = text_of(path)
    for diagnostic in check(text):
        places = [diagnostic, *diagnostic.related]
        if diagnostic.fix is not None:
            places += diagnostic.fix.edits
        for place in places:
            assert 0 <= place.start <= place.end <= len(text)
            text[: place.start].decode()
            text[place.start : place.end].decode()


@pytest.mark.parametrize("path", SOUND, ids=lambda path: path.stem)
def test_safe_fixes_of_a_sound_file_keep_the_network(path: pathlib.Path) -> None:
    def described(text: bytes) -> dict[str, Any]:
        network = resolve(parse(text), Context(4, 20, 3, "multiclass"))
        description = describe_network(network)
        for layer in description["layers"]:
            for bundle in layer["bundles"]:
                # A condition that is always true is `all`, written otherwise.
                if bundle["kind"] == "where":
                    bundle["kind"] = "all"
        return description

    text = text_of(path)
    assert described(fix_all(text, check).text) == described(text)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_fix_takes_its_own_diagnostic_away(path: pathlib.Path) -> None:
    text = text_of(path)
    diagnostics = check(text)
    message = [(diagnostic.code, diagnostic.message) for diagnostic in diagnostics]
    for diagnostic in diagnostics:
        if diagnostic.fix is not None:
            fixed = apply_edits(text, diagnostic.fix.edits)
            after = [(again.code, again.message) for again in check(fixed)]
            own = (diagnostic.code, diagnostic.message)
            assert after.count(own) < message.count(own), diagnostic
