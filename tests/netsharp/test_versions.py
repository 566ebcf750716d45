"""An old version of a text is freed with its last reference: the collector need not find it."""

from __future__ import annotations

import gc

from netsharp_lsp.context import Context
from netsharp_lsp.language import language_by_id
from netsharp_lsp.netsharp.reading.specification import Specification
from netsharp_lsp.netsharp.snapshot import Snapshot
from netsharp_lsp.text.edits import Edit

TEXT = b"""input A [4]; // comment
hidden B [3] from A all;
output C [2] softmax from B all; // netsharp: ignore[NS124]
"""


def alive(kind: type) -> int:
    return sum(isinstance(found, kind) for found in gc.get_objects())


def test_only_the_newest_version_is_alive() -> None:
    language = language_by_id("netsharp")
    gc.collect()
    before = alive(Specification), alive(Snapshot)
    gc.disable()
    try:
        snapshot = language.open(TEXT, Context())
        for number in range(20):
            data = snapshot.data
            place = data.index(b"3") if number % 2 == 0 else data.index(b"33")
            edit = Edit(place, place, "3") if number % 2 == 0 else Edit(place, place + 1, "")
            snapshot = snapshot.edited(data[:place] + edit.text.encode() + data[edit.end :], [edit])
            assert snapshot.check().diagnostics is not None
        assert (alive(Specification) - before[0], alive(Snapshot) - before[1]) == (1, 1)
    finally:
        gc.enable()
