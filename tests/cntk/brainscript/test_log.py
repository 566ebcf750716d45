"""A log of the original program says of a network what we say, or the first difference."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.networks.log import first_difference
from tests.cntk.brainscript.building import network

TEXT = "{ x = Input (3)  W = Parameter {2, 0}  z = W * x }"
LOG = """
Validating network. 3 nodes to process in pass 1.

Validating --> W = LearnableParameter() :  -> [2 x 0]
Validating --> x = InputValue() :  -> [3 x *]
Validating --> z = Times (W, x) : [2 x 0], [3 x *] -> [2 x *]
"""


def test_the_same() -> None:
    assert first_difference(network(TEXT), LOG) is None
    assert first_difference(network(TEXT), LOG.replace("x *]", "x *1]")) is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("z = Times", "y = Times", "'y' (Times)"),
        ("z = Times", "z = Plus", "is Plus in the log and Times here"),
        ("(W, x)", "(x, W)", "the inputs (x, W)"),
        ("-> [2 x *]", "-> [4 x *]", "is [4] in the log and [2] here"),
        ("-> [2 x *]", "-> [2]", "only one of them"),
        ("Validating --> z", "z", "no node 'z'"),
        ("Validating -->", "", "no line"),
    ],
)
def test_differences(old: str, new: str, message: str) -> None:
    found = first_difference(network(TEXT), LOG.replace(old, new))
    assert found is not None
    assert message in found
