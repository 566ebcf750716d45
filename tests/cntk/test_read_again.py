"""What was read of a text before an edit is read as it would be without having seen it."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from bench import cntk_generate
from netsharp_lsp.cntk.configuration import arrays, records
from netsharp_lsp.cntk.configuration.faults import TextFaults
from netsharp_lsp.cntk.configuration.named_files import file_text
from netsharp_lsp.cntk.configuration.sources import Source
from netsharp_lsp.cntk.mel.reading import read as read_mel
from netsharp_lsp.cntk.ndl import reading
from netsharp_lsp.cntk.ndl.containers import program_of_file
from netsharp_lsp.text.edits import Edit, apply_edits
from netsharp_lsp.text.remembered import Remembered
from tests.cntk.collection import FILES

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

if TYPE_CHECKING:
    from collections.abc import Callable

SEED, EDITS = 11, 40
#: What is written somewhere: marks that open, close and separate, and what looks like a value.
WRITTEN = ("", "x", "(", ")", "[", "]", "{", "}", '"', ",", ":", "*", "*3", ";", "=", "$a$", "#")
OWN = b"""m(x, y) = [ t = Times(W*, x:y*2) ; n = Plus(t, m(x, [1:2], a=(3:4))) ]
edit = (
load = [ a = b(( ] c = "d(" e = f("g)h" , i="j k")
"""


def texts(suffix: str) -> list[bytes]:
    corpus = [one.data for one in FILES if one.id == suffix and len(one.data) < 4_000]
    return [OWN, cntk_generate.text(suffix, 25, SEED), *corpus]


def as_ndl(data: bytes) -> object:
    program = program_of_file(Source("a.ndl", data))
    scripts = [(part.role, part.script) for part in program.parts]
    parts = [(role, script.statements, reported(script.faults)) for role, script in scripts]
    whole = reading.read_script(file_text(Source("a.ndl", data), None))
    return parts, reported(program.faults), whole.statements, reported(whole.faults)


def reported(faults: tuple[reading.BuildingFault, ...]) -> list[tuple[str, str, object]]:
    return [(one.kind, one.message, one.place) for one in faults]


def as_mel(data: bytes) -> object:
    script = read_mel(file_text(Source("a.mel", data), None))
    return script.broken, [
        (one.kind, [(it.text, it.place(0, len(it)).key) for it in (one.text, *one.arguments)])
        for one in script.statements
    ]


def as_configuration(data: bytes) -> object:
    faults = TextFaults()
    waiting = [file_text(Source("a.cntk", data), None)]
    found = []
    while waiting:
        for one in records.records(waiting.pop(), faults):
            found.append((one.key, one.value, one.kind, one.whole, one.content.text))
            if one.kind == "block" and len(found) < 1_000:
                waiting.append(one.content)
    return found, [(one.kind, one.message, one.place and one.place.key) for one in faults]


@pytest.mark.parametrize(
    ("suffix", "read"), [("ndl", as_ndl), ("mel", as_mel), ("cntk", as_configuration)]
)
def test_a_text_is_read_as_if_nothing_was_remembered(
    suffix: str, read: Callable[[bytes], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def again(data: bytes) -> object:
        with monkeypatch.context() as patched:
            patched.setattr(reading, "_VALUES", Remembered(1))
            patched.setattr(arrays, "_KNOWN", Remembered(1))
            patched.setattr(records, "_KNOWN", Remembered(1))
            return read(data)

    chance = Random(SEED)
    for number, text in enumerate(texts(suffix)):
        data = text
        for _ in range(EDITS):
            start = chance.randrange(len(data) + 1)
            end = min(len(data), start + chance.choice((0, 0, 1, 5)))
            made = Edit(start, end, chance.choice(WRITTEN))
            data = apply_edits(data, [made])
            assert read(data) == again(data), (SEED, number, made)
