"""Whatever the text, evaluation ends with values: no exception, no hang; and it is fast."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.cntk.configuration.sources import Source, read_text
from netsharp_lsp.cntk.ndl.program import evaluate_file
from netsharp_lsp.cntk.networks.description import described
from tests.cntk.collection import FILES, CntkFile
from tests.costs import within

TEXTS = [file for file in FILES if file.id == "ndl"]
#: What the ends of a text are cut to.
CUTS = 12
SEED = 20161122


def evaluate(data: bytes) -> None:
    """Evaluate a text, and check what every outcome is."""
    source = read_text("any.ndl", data)
    if isinstance(source, str):
        return
    found = evaluate_file(source)
    for fault in found.faults:
        assert fault.message
        assert 0 <= fault.place.start <= fault.place.end <= len(source.text)
    if found.network is not None:
        described(found.network)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_text_of_the_corpus_evaluates(file: CntkFile) -> None:
    evaluate(file.data)


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_texts_that_are_cut_off(file: CntkFile) -> None:
    for number in range(1, CUTS):
        evaluate(file.data[: len(file.data) * number // CUTS])


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_texts_with_bytes_of_any_kind(file: CntkFile) -> None:
    chance = random.Random(SEED)
    for _ in range(20):
        data = bytearray(file.data)
        for _ in range(4):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
        evaluate(bytes(data).replace(b"\0", b""))


#: Pieces of text, a line each.
PIECES = """\
x
y
x.y
=
(
)
{
}
[
]
,
;
:
*
*2
-1
3
"
#
Input(2)
Tanh(x)
Plus(x, y)
Parameter(2, 3, init = x)
f(x) = { y = Tanh(x) }
f(x) [ f = f(x) ]
f(
tag = feature
featureNodes = (x)
load = x
run = x
$v$
$v$$w$
""".splitlines()


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([*PIECES, "\n", "\n", " "]), max_size=40))
def test_pieces_in_any_order(pieces: list[str]) -> None:
    evaluate("".join(pieces).encode())


def test_a_text_of_many_megabytes_is_no_text() -> None:
    assert isinstance(read_text("big.ndl", b"x = 1\n" * 2_000_000), str)


def test_a_network_of_a_hundred_nodes_takes_milliseconds() -> None:
    lines = [
        "f = Input(10, tag = feature)",
        "Layer(x, n) { W = Parameter(n, n) b = Parameter(n, 1)",
    ]
    lines[-1] += " t = Times(W, x) p = Plus(t, b) y = Sigmoid(p) }"
    lines += [f"h{n} = Layer({f'h{n - 1}' if n else 'f'}, 10)" for n in range(20)]
    source = Source("hundred.ndl", "\n".join(lines).encode())
    found = within(0.1, lambda: evaluate_file(source))
    assert found.network is not None
    assert len(found.network.nodes) == 101
