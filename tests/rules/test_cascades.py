"""One fault in a sound network gives its own code wherever it is put, and sets off no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.check import check
from netsharp_lsp.netsharp.reading.expressions import Uses
from netsharp_lsp.netsharp.reading.parser import parse
from netsharp_lsp.netsharp.reading.specification import Specification
from netsharp_lsp.netsharp.reading.syntax import ConstantItem, Declaration, LayerItem, Node, Tuple

CORPUS = Path(__file__).parent.parent / "corpus"
#: Longer texts say nothing new and cost a check for each of their names.
LONGEST = 4000
SOUND = [
    path
    for path in sorted([*(CORPUS / "valid").glob("*.nn"), *(CORPUS / "guide").glob("*.nn")])
    if len(path.read_bytes()) < LONGEST
]


def severe(data: bytes) -> Counter[str]:
    found = check(data, Context())[1]
    return Counter(d.code for d in found if d.severity in ("error", "warning"))


def faults(item: object) -> Iterator[tuple[Node, bytes, set[str]]]:
    """Places of a declaration, what to write there, and the codes that this may give.

    A share says in its own words that a source is gone.
    """
    if isinstance(item, LayerItem):
        for bundle in item.bundles:
            yield bundle.source, b"Nowhere_at_all", {"NS035", "NS104"}
        if isinstance(item.size, Tuple):
            for dimension in item.size.items:
                yield dimension, b"0", {"NS050"}
        if item.activation is not None:
            yield item.activation, b"zork", {"NS017"}
    elif isinstance(item, ConstantItem) and item.value is not None:
        yield item.value, b"1 / 0", {"NS041"}


def all_faults(
    specification: Specification,
) -> Iterator[tuple[Declaration, Node, bytes, set[str]]]:
    uses = Uses(specification)
    for declaration, item in specification.items():
        for fault in faults(item):
            yield declaration, *fault
        if isinstance(item, ConstantItem):
            for user, name in uses.of(item):
                yield user, name, b"Nothing_at_all", {"NS030"}


@pytest.mark.parametrize("path", SOUND, ids=lambda path: path.stem)
def test_one_fault_sets_off_no_other(path: Path) -> None:
    data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    before = severe(data)
    specification = parse(data)
    for declaration, node, text, allowed in all_faults(specification):
        base = specification.starts[declaration]
        broken = data[: base + node.start] + text + data[base + node.end :]
        new = severe(broken) - before
        assert set(new) <= allowed, broken.decode()
        assert new or before & Counter(dict.fromkeys(allowed, 1)), broken.decode()


BESIDE = """const N = [3, 4];
input I [28, 28];
input Unread [4];
hidden A {size} tanh from I all;
hidden B [N[5]] from I all;
hidden W [10, 10] from I where (s, d) => s[4] == d[0];
hidden Unused [5] from A all;
output O [3] softmax from A all;
"""


def reported(size: str) -> set[tuple[str, int]]:
    """Codes and lines of all severe findings where a layer has this size."""
    text = BESIDE.format(size=size).encode()
    found = (d for d in check(text, Context())[1] if d.severity in ("error", "warning"))
    return {(d.code, text.count(b"\n", 0, d.start) + 1) for d in found}


@pytest.mark.parametrize("size", ["[40", "[4 0]", "[40, ,]", "40]", "[4 * ]"])
def test_a_broken_size_hides_no_fault_elsewhere(size: str) -> None:
    elsewhere = {
        ("NS059", 3),
        ("NS046", 5),
        ("NS058", 5),
        ("NS046", 6),
        ("NS058", 6),
        ("NS058", 7),
    }
    assert reported("[40]") == elsewhere
    found = reported(size)
    assert elsewhere <= found
    assert {line for _, line in found - elsewhere} == {4}
