"""Whatever the text, evaluation ends with values: no exception, no hang."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.cntk.brainscript.evaluation.program import evaluate_file
from netsharp_lsp.cntk.networks.description import described
from tests.cntk.brainscript.building import around
from tests.cntk.collection import FILES, CntkFile

TEXTS = [file for file in FILES if file.language == "brainscript"]
OWN = sorted((Path(__file__).parent / "networks").glob("*.bs"))
#: What the ends of a text are cut to.
CUTS = 12


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_every_text_of_the_corpus_evaluates(file: CntkFile) -> None:
    by_name = {one.name.rsplit("/", 1)[-1]: one.data for one in FILES}
    found = evaluate_file(file.data, file.name, around(by_name))
    for fault in found.faults:
        assert fault.message.endswith((".", "?")) or fault.kind == "failed"
    if found.network is not None:
        described(found.network)


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_texts_that_are_cut_off(path: Path) -> None:
    data = path.read_bytes()
    for number in range(1, CUTS):
        found = evaluate_file(data[: len(data) * number // CUTS], path.name, around())
        assert isinstance(found.faults, tuple)


#: Pieces of text, a line each.
PIECES = """\
{
}
(
)
[
]
x
x =
1
:
..
f (
,
=>
if
then
else
new
array
Input (3)
PastValue (0, x)
+
'a'
$v$
""".splitlines()


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(st.sampled_from(PIECES), max_size=24))
def test_pieces_of_text_in_any_order(pieces: list[str]) -> None:
    found = evaluate_file(" ".join(pieces).encode(), "pieces.bs", around())
    assert isinstance(found.faults, tuple)


@pytest.mark.costly
@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 2000,
        "x = " + "f (" * 2000,
        "x = 1" + " + 1" * 20_000,
        "x = 1" + " : 1" * 20_000,
        "x = " + "-" * 20_000 + "1",
        "a = array[0..1e9] (i => i)",
        "f (x) = f (f (x)) y = f (1)",
        "a[i:0..100000] = if i == 0 then 0 else a[i-1] + 1  y = a[100000]",
        "x = 2 ** 1e300 ** 1e300",
        "x = Input (1e300)",
        "x = Input (1e15 : 1e15 : 1e15)",
    ],
    ids=lambda text: text[:20],
)
def test_too_much(text: str) -> None:
    assert evaluate_file(text.encode(), "much.bs", around()) is not None


@pytest.mark.costly
def test_the_limit_of_recursion_is_as_before() -> None:
    before = sys.getrecursionlimit()
    evaluate_file(b"f (x) = f (f (x)) y = f (1)", "deep.bs", around())
    evaluate_file(b"x = Input (3)", "flat.bs", around())
    assert sys.getrecursionlimit() == before
