"""Versions of a text: the old are freed at once, and the new answer as fresh ones would."""

from __future__ import annotations

import gc

from netsharp_lsp.context import Context
from netsharp_lsp.language import language_by_id
from netsharp_lsp.netsharp.reading.specification import Specification
from netsharp_lsp.netsharp.snapshot import Snapshot
from netsharp_lsp.text.edits import Edit
from tests.costs import uncollected

TEXT = b"""input A [4]; // comment
hidden B [3] from A all;
output C [2] softmax from B all; // netsharp: ignore[NS124]
"""


def alive(kind: type) -> int:
    return sum(isinstance(found, kind) for found in gc.get_objects())


def test_only_the_newest_version_is_alive() -> None:
    language = language_by_id("netsharp")
    with uncollected():
        before = alive(Specification), alive(Snapshot)
        snapshot = language.open(TEXT, Context())
        for number in range(20):
            data = snapshot.data
            place = data.index(b"3") if number % 2 == 0 else data.index(b"33")
            edit = Edit(place, place, "3") if number % 2 == 0 else Edit(place, place + 1, "")
            snapshot = snapshot.edited(data[:place] + edit.text.encode() + data[edit.end :], [edit])
            assert snapshot.check().diagnostics is not None
        assert (alive(Specification) - before[0], alive(Snapshot) - before[1]) == (1, 1)


#: A text in pieces, and an edit after a declaration that ends within a number.
TORN = (
    "ifrom Ptré=hidden 9991e40099999}.999ina allta 2]l; {om// )mt"
    ":-3on\ninput  n[;3]/input  f fr#om A al{ )t/*]// f fr#om A al"
    "l; {om// )mt:-3on\ninput  / f fr#om A all; {om} )t/*[;3]// f "
    "fr#om f fr#om A all; {om// )t/*[;3]// \r\n fr#A all; {om// )t/"
    "*"
)
WHERE, PIECE = 37, " where "


def test_colours_follow_what_stands_beside_a_declaration() -> None:
    language = language_by_id("netsharp")
    snapshot = language.open(TORN.encode(), Context())
    snapshot.tokens(0, len(snapshot.data))
    at = len(TORN[:WHERE].encode())
    data = (TORN[:WHERE] + PIECE + TORN[WHERE:]).encode()
    snapshot = snapshot.edited(data, [Edit(at, at, PIECE)])
    fresh = language.open(data, Context())
    assert fresh.tokens(0, len(data)) == snapshot.tokens(0, len(data))
