"""The one entry point to CNTK's model files, which are recognised by their first bytes, never by a
name.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from netsharp_engine.cntk.stored.binary import Memory, ModelFault
from netsharp_engine.cntk.stored.checkpoints import Checkpoint, read_checkpoint
from netsharp_engine.cntk.stored.dictionaries.composite import model_of
from netsharp_engine.cntk.stored.dictionaries.wire import LARGE, Dictionary, read_dictionary
from netsharp_engine.cntk.stored.model_file import read_model
from netsharp_engine.cntk.stored.values import StoredModel

#: The first bytes of each kind of file.
_V1 = "BCN".encode("utf-16-le")
_CHECKPOINTS = tuple(mark.encode("utf-16-le") + b"\0\0" for mark in ("BVersion", "BCKP"))
_VERSIONED = (b"\x08\x01", b"\x08\x02")
_DATA = 0x12
#: The number of first bytes by which the format of a file is recognised.
SHORTEST = 18


class TrainerState(NamedTuple):
    """The state from which a trainer of the second format resumes, as the file has it."""

    values: Dictionary


def kind_of(head: Memory) -> str | None:
    """Return the kind of a file by its first bytes: v1, v1 checkpoint, v2, onnx; None for other
    files.
    """
    if head.startswith(_V1):
        return "v1"
    if head.startswith(_CHECKPOINTS):
        return "v1 checkpoint"
    if head.startswith(LARGE) or (head[:2] in _VERSIONED and head[2:3] == bytes((_DATA,))):
        return "v2"
    if head[:1] == b"\x08" and 3 <= int.from_bytes(head[1:2], "little") <= 12:
        return "onnx" if head[2:3] in (b"\x12", b":") else None
    return None


def open_stored(data: Memory, *, partial: bool = False) -> StoredModel | Checkpoint | TrainerState:
    """Return the contents of a file's bytes; ModelFault, with the byte, where they are not such a
    file or damaged. ``partial``: a model with what can be read around faults, which it lists.
    """
    kind = kind_of(data[:SHORTEST])
    if kind == "v1":
        return read_model(data, partial=partial)
    if kind == "v1 checkpoint":
        return read_checkpoint(data)
    if kind == "onnx":
        raise ModelFault("byte 0: this is an ONNX file, and CNTK's models are read here")
    if kind is None:
        raise ModelFault("byte 0: this is not a model of CNTK, in neither of its formats")
    found, faults = read_dictionary(data, partial=partial)
    return _of_dictionary(found, faults)


def _of_dictionary(found: Dictionary, faults: list[str]) -> StoredModel | TrainerState:
    if "Learners" in found:
        return TrainerState(found)
    what: Any = found.get("type")
    if what == "CompositeFunction" or (faults and "inputs" in found):
        return model_of(found, faults)
    reason = faults[0] if faults else "byte 0: this dictionary is neither a model nor a checkpoint"
    raise ModelFault(reason)


def open_model(data: Memory, *, partial: bool = False) -> StoredModel:
    """Return the model in the bytes of a file; ModelFault for checkpoints, too."""
    found = open_stored(data, partial=partial)
    if not isinstance(found, StoredModel):
        raise ModelFault("byte 0: this is a checkpoint, from which a training resumes, not a model")
    return found
