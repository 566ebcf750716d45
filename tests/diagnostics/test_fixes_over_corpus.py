"""Laws of fixes over every specification of the corpus."""

from __future__ import annotations

import pathlib

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.fixes import ROUNDS, fix_all
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.language import examine, language_by_id
from netsharp_lsp.text.decode import Source, decode
from netsharp_lsp.text.lines import LineIndex

CORPUS = pathlib.Path(__file__).parent.parent / "corpus"
FILES = [
    path for path in sorted(CORPUS.rglob("*.nn")) if isinstance(decode(path.read_bytes()), Source)
]
LANGUAGE = language_by_id("netsharp")


def check(text: bytes) -> list[Diagnostic]:
    return examine(LANGUAGE, LineIndex(text), Context(), Selection())


def text_of(path: pathlib.Path) -> bytes:
    source = decode(path.read_bytes())
    assert isinstance(source, Source)
    return source.text


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "all"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_fixes_come_to_a_fixed_point_and_leave_none_behind(
    path: pathlib.Path, unsafe: bool
) -> None:
    fixed = fix_all(text_of(path), check, unsafe)
    left = [d for d in fixed.diagnostics if d.fix is not None and (unsafe or d.fix.safe)]
    assert fixed.rounds < ROUNDS
    assert left == []
    assert fix_all(fixed.text, check, unsafe).text == fixed.text


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_safe_fixes_of_a_sound_file_add_no_error_or_warning(path: pathlib.Path) -> None:
    def grave(diagnostics: list[Diagnostic]) -> list[str]:
        return sorted(d.code for d in diagnostics if d.severity in ("error", "warning"))

    text = text_of(path)
    before = grave(check(text))
    if any(d.severity == "error" for d in check(text)):
        pytest.skip("the file has errors of its own")
    assert set(grave(list(fix_all(text, check).diagnostics))) <= set(before)


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
