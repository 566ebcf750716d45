"""Laws of the rules on texts over the corpus: quiet on sound files, never silent on broken ones."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.cntk.checking.check import diagnostics_by_file
from netsharp_lsp.cntk.configuration.lines import without_comments
from netsharp_lsp.cntk.configuration.meaning.configuration import resolve
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.diagnostics.model import Diagnostic, Edit
from netsharp_lsp.text.decode import decode_legacy
from netsharp_lsp.text.edits import apply_edits
from netsharp_lsp.workspace import Run
from tests.cntk.collection import FILES, CntkFile
from tests.cntk.rules.examples import SEVERE, shown
from tests.cntk.texts import Memory

TEXTS = [f"CK0{number:02}" for number in range(1, 40)]
BESIDE = {os.path.basename(file.name): file.data for file in FILES if not file.broken}
SOUND = [file for file in FILES if not file.broken]
CONFIGURATIONS = [file for file in FILES if file.id == "cntk"]
#: Files of the corpus that show where CNTK stops, with the codes of all their errors.
STOPS = {
    "configurations/comments.cntk": {"CK008"},
    "configurations/included.cntk": {"CK012"},
}


WORD = re.compile(rb"\w+|[^\w\s]")
MARKS = (b"[", b"]", b"{", b"}", b"(", b")", b'"', b"#", b"=", b",", b";", b":")
#: Longer files say nothing new.
LONGEST = 2000


def found(file: CntkFile, data: bytes | None = None) -> dict[str, list[Diagnostic]]:
    name = os.path.basename(file.name)
    files = Memory({**BESIDE, name: file.data if data is None else data})
    if file.id != "cntk":
        return diagnostics_by_file(SingleFile(name, file.id, files))
    return diagnostics_by_file(Experiment(Run((f"configFile={name}",), declared=False), files))


@pytest.mark.parametrize("file", SOUND, ids=lambda file: file.name)
def test_sound_files_have_no_error_in_their_text(file: CntkFile) -> None:
    diagnostics = [one for listed in found(file).values() for one in listed if one.code in TEXTS]
    errors = {one.code for one in diagnostics if one.severity == "error"}
    assert errors == STOPS.get(file.name, set()), diagnostics


@pytest.mark.parametrize(
    "file", [file for file in CONFIGURATIONS if file.broken], ids=lambda file: file.name
)
def test_every_broken_configuration_is_reported(file: CntkFile) -> None:
    here = found(file)
    text = [one for listed in here.values() for one in listed if one.code in TEXTS]
    encoded = {one.code for one in text} & {"CK016"}
    assert encoded or [one for one in text if one.severity in SEVERE], shown(here)


@pytest.mark.parametrize("file", CONFIGURATIONS, ids=lambda file: file.name)
def test_places_lie_in_their_file_and_fixes_are_apart(file: CntkFile) -> None:
    name = os.path.basename(file.name)
    for one in found(file).get(name, ()):
        assert 0 <= one.start <= one.end <= 4 * len(file.data), one
        edits = sorted(one.fix.edits, key=lambda edit: edit.start) if one.fix is not None else []
        assert all(a.end <= b.start for a, b in pairwise(edits)), one


@pytest.mark.parametrize(
    "file", [file for file in CONFIGURATIONS if not file.broken], ids=lambda file: file.name
)
def test_safe_fixes_keep_every_value(file: CntkFile) -> None:
    name = os.path.basename(file.name)
    own = [one for one in found(file).get(name, ()) if one.code in TEXTS]
    fixes = [one.fix for one in own if one.fix is not None and one.fix.safe]
    text = decode_legacy(file.data).text
    after = apply_edits(text, [edit for fix in fixes for edit in fix.edits])
    assert _leaves(name, after) == _leaves(name, file.data)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_safe_fix_makes_an_error(file: CntkFile, seed: int) -> None:
    """Neither in the file nor in one with a token lost, doubled or replaced."""
    source = random.Random(f"{seed} {file.name}")
    words = [match.span() for match in WORD.finditer(file.data)]
    texts = [file.data]
    if words and len(file.data) < LONGEST:
        start, end = source.choice(words)
        instead = source.choice((b"", 2 * file.data[start:end], source.choice(MARKS)))
        texts.append(file.data[:start] + instead + file.data[end:])
    for text in texts:
        here = found(file, text)
        for one in here.get(os.path.basename(file.name), ()):
            if one.fix is not None and one.fix.safe:
                after = found(file, apply_edits(decode_legacy(text).text, one.fix.edits))
                new = _errors(after) - _errors(here)
                own = after.get(os.path.basename(file.name), ())
                places = [(each.start, each.end) for each in own if each.code in new]
                written = list(_written(one.fix.edits))
                wrong = [p for p in places if any(p[0] <= e and s <= p[1] for s, e in written)]
                assert not wrong, (one, text)


def _written(edits: Sequence[Edit]) -> Iterator[tuple[int, int]]:
    """Where edits stand once they are made; errors elsewhere the broken text had hidden."""
    shift = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        start = edit.start + shift
        yield start, start + len(edit.text.encode())
        shift += len(edit.text.encode()) - (edit.end - edit.start)


def _errors(diagnostics: dict[str, list[Diagnostic]]) -> Counter[str]:
    """By code: the sentences name the brackets, which fixes replace."""
    return Counter(
        one.code for listed in diagnostics.values() for one in listed if one.severity == "error"
    )


def _leaves(name: str, data: bytes) -> dict[str, str | None]:
    resolved = resolve([f"configFile={name}"], Memory({**BESIDE, name: data}))
    return {it.path.lower(): it.value for it in resolved.values() if it.kind != "block"}


def test_a_closing_bracket_that_is_missing_is_named_by_its_partner() -> None:
    """Those that are first on their line: the indentation of the text shows where they belong."""
    named = missed = 0
    for file in CONFIGURATIONS:
        if file.broken or file.name in STOPS:
            continue
        text = decode_legacy(file.data).text
        for opening, closing in _partners(text):
            here = found(file, text[:closing] + text[closing + 1 :])
            listed = here.get(os.path.basename(file.name), ())
            places = {one.start for one in listed if one.code in ("CK003", "CK004")}
            places |= {it.start for one in listed if one.code == "CK004" for it in one.related}
            named += opening in places
            missed += opening not in places
    print(f"{named} of {named + missed} brackets were named")
    assert named > 60
    assert missed <= 0.05 * (named + missed)


def _partners(text: bytes) -> list[tuple[int, int]]:
    """Brackets with those that close them at the beginning of a line."""
    code = without_comments(text)
    waiting: list[int] = []
    partners = []
    for token in re.finditer(rb'"[^"]*"|[\[\](){}]', code):
        if token.group() in (b"[", b"{", b"("):
            waiting.append(token.start())
        elif len(token.group()) == 1:
            line = code.rfind(b"\n", 0, token.start()) + 1
            partner = waiting.pop()
            if not code[line : token.start()].strip():
                partners.append((partner, token.start()))
    return partners


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.data())
def test_no_edit_makes_a_rule_fail(data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(CONFIGURATIONS))
    text = file.data
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 12))
    put = data.draw(st.sampled_from(PIECES))
    found(file, text[:at] + put + text[at + cut :])


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ndl", "a = Input(2), b = Input(2)\nm = Constant( -[n = Parameter(2*2)\no = Sin(a)\n"),
        ("ndl", "# nothing\n"),
        (
            "cntk",
            "command = T\nT = { action = train ; BrainScriptNetworkBuilder = {\n"
            " a = Input {2}\n b[i:0..1] = if i == 0 then a else b\n outputNodes = (b[1])\n} }\n",
        ),
    ],
)
def test_texts_on_which_a_rule_once_failed(language: str, text: str) -> None:
    file = CntkFile(f"own/once.{language}", language, text.encode(), broken=True)
    assert all(one.message for listed in found(file).values() for one in listed)


PIECES = [
    *(piece.encode() for piece in ("", "[", "]", "{", "}", "(", ")", '"', "#", " # ", "$", "$x$")),
    *(piece.encode() for piece in ("\n", "\r", "=", "a=", "=\n", ";", ":", "//", "/*", "'", "...")),
    *(b"\xff", b"\0", b"\xef\xbb\xbf", b"include=", b"\ninclude=a.cntk", "é".encode()),
]
