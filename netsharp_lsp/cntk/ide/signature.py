"""The form of the call at a place, with the parameter that is being written."""

from __future__ import annotations

from netsharp_lsp.cntk.ide.places.calls import call_at
from netsharp_lsp.ide.answers import Parameter, Signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.places.edited import Edited


def signature_at(edited: Edited, offset: int) -> Signature | None:
    """Return the form of the innermost call around an offset; None outside calls."""
    call = call_at(edited, offset)
    if call is None:
        return None
    parameters: list[Parameter] = []
    active = None
    at = len(call.name)
    for word in call.parameters:
        start = call.label.find(word, at)
        if start < 0:
            continue
        if word == call.parameter:
            active = len(parameters)
        parameters.append(Parameter(start, start + len(word), call.meaning_of(word)))
        at = start + len(word)
    return Signature(call.label, call.description, tuple(parameters), active)
