"""Batch normalisation as files before version 6 have it: with a version of its own.

Source: CNTK, ComputationNetworkLib/TrainingNodes.h, BatchNormalizationNode, Load.
"""

from __future__ import annotations

from typing import Any

from netsharp_engine.cntk.stored.binary import BinaryReading, BinaryWriting
from netsharp_engine.cntk.stored.fields import Codec, NodePlace
from netsharp_engine.cntk.stored.values import EPSILON

#: From which version of its own a node has its layout and count, and its epsilon.
_COUNTED, _EPSILON = 0x10002, 0x10003
_LAYOUTS = ("HWC", "CHW")
_HEAD, _COUNT, _REST = "ii??d", "iQ", "d?"


def _read(given: BinaryReading, place: NodePlace) -> tuple[Any, ...]:
    head = given.take(_HEAD)
    counted = given.take(_COUNT) if head[0] >= _COUNTED else ()
    return (*head, *counted, *(given.take(_REST) if head[0] >= _EPSILON else ()))


def _write(out: BinaryWriting, value: tuple[Any, ...], place: NodePlace) -> None:
    form = (_HEAD, _HEAD + _COUNT, _HEAD + _COUNT + _REST)
    count = next(one for one in form if len(one) == len(value))
    out.pack(count, *value)


def with_old(given: BinaryReading, found: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes, with outdated names replaced by current ones."""
    if ".old" not in found:
        return found
    old = found[".old"]
    layout = old[5] if len(old) > 5 else 1
    if not 0 <= layout < len(_LAYOUTS):
        raise given.fault(f"{layout} is expected to be less than {len(_LAYOUTS)}")
    return {
        ".old": old,
        "spatial": old[3],
        "normalizationTimeConstant": old[4],
        "blendTimeConstant": 0.0,
        "imageLayout": _LAYOUTS[layout],
        ".batches": old[6] if len(old) > 6 else 0,
        "epsilon": old[7] if len(old) > 7 else EPSILON,
        "useCntkEngine": old[8] if len(old) > 8 else True,
    }


OLD = Codec(_read, _write)
