"""The form of the call at a place, with the parameter that is being written."""

from __future__ import annotations

from netsharp_lsp.cntk.ide.calls import call_at, name_of
from netsharp_lsp.cntk.ide.descriptions import described
from netsharp_lsp.ide.answers import Parameter, Signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.calls import CallAt
    from netsharp_lsp.cntk.ide.edited import Edited


def signature_at(edited: Edited, offset: int) -> Signature | None:
    """The form of the innermost call around an offset; None outside calls."""
    call = call_at(edited, offset)
    if call is None:
        return None
    parameters = []
    at = call.label.find("(") if "(" in call.label else call.label.find("{")
    for word in call.parameters:
        start = call.label.find(word, at)
        if start < 0:
            continue
        parameters.append(Parameter(start, start + len(word)))
        at = start + len(word)
    return Signature(call.label, described(call.name), tuple(parameters), _active(call))


def _active(call: CallAt) -> int | None:
    """Which parameter is being written: by its name where it is passed so, else by its place."""
    names = [name_of(word) for word in call.parameters]
    if call.named:
        return names.index(call.named) if call.named in names else None
    if call.active < len(names):
        return call.active
    return len(names) - 1 if names and call.parameters[-1] == "..." else None
