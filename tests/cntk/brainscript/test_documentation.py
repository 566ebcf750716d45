"""Every function of the library and every native type of node is documented, and well-formed."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.library import documentation
from netsharp_lsp.cntk.networks.node_types import NODE_TYPES
from tests.cntk.brainscript.library import FUNCTIONS, LIBRARY


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_is_documented(name: str) -> None:
    found = documentation.of(name)
    assert found is not None
    assert found.text.endswith(".")
    declaration = LIBRARY.find(name)
    assert declaration is not None
    names = [one.name for one in declaration.parameters or ()]
    assert list(found.parameters) == names
    assert [one for one, reported in found.parameters.items() if not reported] == []
    assert found.signature.startswith(f"{name} ")
    assert found.signature in found.markdown


@pytest.mark.parametrize("operation", NODE_TYPES)
def test_type_of_node_is_documented(operation: str) -> None:
    found = documentation.of_node(operation)
    assert found is not None
    assert (found.name, found.text[-1:]) == (operation, ".")
    assert found.shape or operation == "DynamicAxis"


def test_documentation_names_only_functions_of_the_library() -> None:
    named = {name for group in documentation.GROUPS for name in documentation._entries(group)}
    assert [name for name in sorted(named) if LIBRARY.find(name) is None] == []
    assert set(documentation._entries(documentation.NODES)) <= set(NODE_TYPES)


def test_no_meaning_is_left_over() -> None:
    used = {one.name for found in LIBRARY.declarations for one in found.parameters or ()}
    assert sorted(set(documentation.meanings()) - used) == []


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("Softmax", "Softmax (z, axis=0, tag='')"),
        ("Constant", "Constant (val, rows=1, cols=1, tag='')"),
        ("BS.Loop.Previous", "BS.Loop.Previous (x, initialState=None)"),
        ("StabilizerLayer", "StabilizerLayer {steepness=4}"),
    ],
)
def test_signature(name: str, signature: str) -> None:
    found = documentation.of(name)
    assert found is not None
    assert found.signature == signature


def test_another_name_leads_to_the_function() -> None:
    assert documentation.of("RectifiedLinear") is documentation.of("CNTK2.ReLU")
    assert documentation.of("ErrorPrediction") is documentation.of("CNTK2.ClassificationError")
    assert documentation.of("Nothing") is None
    assert documentation.of_node("Nothing") is None
