"""The device that trains a network of CNTK, where one is named; it knows no device itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from netsharp_engine.backends import AUTO, CPU, backend
from netsharp_engine.graph import GraphError
from netsharp_engine.program import Unusable

if TYPE_CHECKING:
    from netsharp_engine.phases import PhasedBackend

#: The families whose programs know phases.
_ABLE = ("torch", "wgpu")


def trained_by(name: str) -> PhasedBackend | None:
    """Return the back end of a device, None for the usual one.

    GraphError where there is no such device, or it trains no network of CNTK.
    """
    if name.casefold() in ("", CPU, AUTO):
        return None
    if name.partition(":")[0].casefold() not in _ABLE:
        able = ", ".join((CPU, *_ABLE))
        raise GraphError(
            f"A network of CNTK is trained by --device {able}, and '{name}' is asked for."
        )
    found = backend(name)
    if isinstance(found, Unusable):
        raise GraphError(f"--device {name}: {found}")
    return cast("PhasedBackend", found)
