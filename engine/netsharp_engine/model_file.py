"""The model file as bytes: named arrays and JSON texts in a safetensors file, written atomically.

It knows the container and the format's version, not what the entries mean.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from netsharp_engine import stored
from netsharp_engine.atomic_files import AtomicFile
from netsharp_engine.excerpt import excerpt
from netsharp_engine.plain_files import open_plain

FORMAT = "netsharp"
#: 2 says with what labels a model answers in Python; 1 lacks them.  3 says in what units numbers
#: were learned, and has the bounds of the normaliser ``robust``.
VERSION = 3
SMALLEST_FILE = 8
#: What safetensors calls the types of our arrays.
KINDS = {"float16": "F16", "float32": "F32", "float64": "F64"}
LONGEST_VERSION = 9


class ModelError(ValueError):
    """A model cannot be used, read or written; ``str(error)`` says why and what to do.

    Since
    -----
    0.1
    """


def write_file(
    path: str, texts: Mapping[str, Any], tensors: Mapping[str, npt.NDArray[np.floating]]
) -> None:
    """Write arrays and JSON values as one file, whole or not at all; ModelError when that fails.

    A model that was given a second name (a hard link) keeps its state under that name. Arrays keep
    their shapes and dtypes.
    """
    metadata = {name: json.dumps(value) for name, value in texts.items()}
    metadata |= {"format": FORMAT, "version": str(VERSION)}
    if os.path.exists(path) and not os.path.isfile(path):
        raise ModelError(f"The model {path} cannot be written: it is not a file. Name a file.")
    # What is wide comes first, so that each array lies at a multiple of its width.
    order = sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    try:
        with AtomicFile(path) as aside:
            aside.stream.write(_header(metadata, order))
            for _, array in order:
                little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
                aside.stream.write(little.reshape(-1).view(np.uint8).data)
            aside.commit()
    except OSError as error:
        raise ModelError(
            f"The model {path} cannot be written: {error.strerror or error}."
        ) from None


def _header(
    metadata: dict[str, str], order: Sequence[tuple[str, npt.NDArray[np.floating]]]
) -> bytes:
    """Return the bytes before the arrays: the size of a JSON text, and that text, padded to 8
    bytes.

    The package safetensors would write a file of its own beside the target, which is left behind
    when it is killed.
    """
    entries: dict[str, Any] = {"__metadata__": metadata}
    start = 0
    for name, array in order:
        end = start + array.nbytes
        shape = list(array.shape)
        kind = KINDS[array.dtype.name]
        entries[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
        start = end
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def read_file(path: str) -> tuple[dict[str, Any], dict[str, npt.NDArray[np.floating]]]:
    """Return the JSON values and arrays of a model file; ModelError for any other file. Arrays have
    the shapes and dtypes of the file.
    """
    head = _head(path)
    try:
        with safe_open(path, framework="np") as opened:
            metadata = opened.metadata() or {}
            _check_version(path, metadata)
            names = opened.keys()
            tensors = {name: opened.get_tensor(name) for name in names}
    except (SafetensorError, TypeError, AttributeError, ValueError, OSError) as error:
        if isinstance(error, ModelError):
            raise
        if head.startswith((b"PK\x03\x04", b"\x80")):
            raise ModelError(
                f"{path} is not a model file but an archive or a pickle, which is never loaded. "
                "Model files are written by netsharp run."
            ) from None
        raise ModelError(
            f"{path} is damaged, or no model file ({excerpt(error)}). Train again or take a copy."
        ) from None
    for name, array in tensors.items():
        if array.dtype not in (np.float32, np.float64):
            raise ModelError(
                f"{path} is damaged: '{excerpt(name)}' holds {array.dtype}, not floating-point "
                "numbers. Train again or take a copy."
            )
    values: dict[str, Any] = {}
    for name, text in metadata.items():
        if name in ("format", "version"):
            continue
        try:
            values[name] = json.loads(text)
        except (ValueError, RecursionError):
            raise ModelError(
                f"{path} is damaged: its entry '{excerpt(name)}' is not JSON. "
                "Train again or take a copy."
            ) from None
    return values, tensors


def read_model(path: str) -> tuple[dict[str, Any], dict[str, npt.NDArray[np.floating]]]:
    """Return the JSON values and arrays of a model file; ModelError for any other, also for what is
    kept beside a checkpoint of CNTK. Arrays have the shapes and dtypes of the file.
    """
    values, tensors = read_file(path)
    if "of" in values and "specification" not in values:
        raise ModelError(
            f"{path} is part of a checkpoint, from which a training resumes, not a model. Name the "
            f"model beside it, {path.removesuffix('.ckp.safetensors')}."
        )
    return values, tensors


def tensor_bytes(tensors: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Return arrays of floating-point numbers as the bytes of a plain safetensors file. Arrays keep
    their shapes and dtypes. Source: the safetensors format (header of JSON, then the numbers in
    little-endian order).
    """
    order = sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    parts = [_header({"format": "np"}, order)]
    for _, array in order:
        parts.append(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
    return b"".join(parts)


def read_tensors(path: str) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays in any safetensors file; ModelError for any other file. Arrays have the
    shapes and dtypes of the file.
    """
    _head(path)
    try:
        with safe_open(path, framework="np") as opened:
            return {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, TypeError, AttributeError, ValueError, OSError) as error:
        raise ModelError(
            f"{path} is not a safetensors file, or damaged ({excerpt(error)})."
        ) from None


def read_network(values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the specification in a file's values, and the context of its training; ValueError
    without.
    """
    context = dict(stored.table(values, "context"))
    for key in context.keys() & {"features", "hidden_nodes", "outputs"}:
        stored.optional(context, key, lambda table, name: stored.whole(table, name, 1))
    for key in context.keys() & {"task", "host"}:
        stored.optional(context, key, stored.text)
    return stored.text(values, "specification"), context


def _head(path: str) -> bytes:
    """Return the first bytes of a file that can be read and is not too short."""
    try:
        with open_plain(path) as stream:
            head = stream.read(SMALLEST_FILE)
    except IsADirectoryError:
        raise ModelError(f"{path} is a directory, not a model file.") from None
    except FileNotFoundError:
        raise ModelError(f"There is no model file {path}.") from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}.") from None
    if len(head) < SMALLEST_FILE:
        raise ModelError(f"{path} is not a model file: it has only {len(head)} bytes.")
    return head


def _check_version(path: str, metadata: Mapping[str, str]) -> None:
    if metadata.get("format") != FORMAT:
        raise ModelError(
            f"{path} is a safetensors file, but not one that netsharp wrote: it has no "
            "specification. Models are written by netsharp run."
        )
    version = metadata.get("version", "")
    if not (version.isascii() and version.isdigit()) or not version.strip("0"):
        raise ModelError(f"{path} is damaged: its format version is '{excerpt(version)}'.")
    if len(version) > LONGEST_VERSION or int(version) > VERSION:
        raise ModelError(
            f"{path} has format version {excerpt(version)}; this netsharp reads up to {VERSION}. "
            "Install a newer netsharp to use it."
        )
