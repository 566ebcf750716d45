"""Networks and values from short texts, for the tests beside this file."""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.evaluation.program import (
    Outcome,
    Surroundings,
    evaluate_builder,
    evaluate_member,
)
from netsharp_lsp.cntk.library import own_library
from netsharp_lsp.cntk.networks.faults import BuildingFault
from netsharp_lsp.cntk.networks.node import Network

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.brainscript.evaluation.values import Value

SOURCE = "test.bs"


def around(files: dict[str, bytes] | None = None, folders: tuple[str, ...] = ()) -> Surroundings:
    """Our library, and files that includes may name."""
    return Surroundings((files or {}).get, own_library(), folders)


def outcome(text: str, files: dict[str, bytes] | None = None) -> Outcome:
    """The result of a builder's value."""
    return evaluate_builder(text.encode(), SOURCE, around(files))


def network(text: str) -> Network:
    """A network in which everything is right."""
    found = outcome(text)
    assert found.faults == ()
    assert found.network is not None
    assert [(one.node.name, one.message) for one in found.network.troubles] == []
    return found.network


def value(text: str, files: dict[str, bytes] | None = None) -> Value | BuildingFault:
    """The value of the member `x` of a text."""
    return evaluate_member(text.encode(), SOURCE, "x", around(files))


def fault(text: str, files: dict[str, bytes] | None = None) -> tuple[str, str]:
    """The kind of fault that `x` comes to, and the text that it marks."""
    found = value(text, files)
    assert isinstance(found, BuildingFault), found
    return found.kind, marked(found, text)


def marked(found: BuildingFault, text: str) -> str:
    """The text that a fault marks; a place in the library is named by its file."""
    if found.place.source != SOURCE:
        return found.place.source
    return text.encode()[found.place.start : found.place.end].decode()
