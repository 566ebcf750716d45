"""The model file as bytes: named arrays and JSON texts in a safetensors file, written atomically.

It knows the container and the format's version, not what the entries mean.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from secrets import token_hex
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

FORMAT = "netsharp"
VERSION = 1
SMALLEST_FILE = 8


class ModelError(ValueError):
    """A model file cannot be used; ``str(error)`` says why and what to do."""


def write_file(
    path: str, texts: Mapping[str, Any], tensors: Mapping[str, npt.NDArray[np.floating]]
) -> None:
    """Write arrays and JSON values aside, then rename; ModelError when that fails."""
    metadata = {name: json.dumps(value, ensure_ascii=False) for name, value in texts.items()}
    metadata |= {"format": FORMAT, "version": str(VERSION)}
    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    if os.path.exists(path) and not os.path.isfile(path):
        raise ModelError(f"The model {path} cannot be written: it is no file. Name a file.")
    aside = ""
    try:
        aside, mode = _aside(path)
        save_file(arrays, aside, metadata)
        # safetensors puts a file of its own there, which only its owner may read.
        os.chmod(aside, mode)
        with open(aside, "rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(aside, os.path.realpath(path))
    except (OSError, SafetensorError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ModelError(f"The model {path} cannot be written: {reason}.") from None
    finally:
        if aside and os.path.exists(aside):
            os.unlink(aside)


def _aside(path: str) -> tuple[str, int]:
    """Make an empty file beside a model; the permissions are those of the model or the usual."""
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    aside = os.path.join(folder, f".{name}.{token_hex(4)}.part")
    with open(aside, "xb"):
        pass
    known = target if os.path.exists(target) else aside
    return aside, os.stat(known).st_mode & 0o7777


def read_file(path: str) -> tuple[dict[str, Any], dict[str, npt.NDArray[np.floating]]]:
    """The JSON values and arrays of a model file; ModelError for any other file."""
    head = _head(path)
    try:
        with safe_open(path, framework="np") as stored:
            metadata = stored.metadata() or {}
            _check_version(path, metadata)
            names = stored.keys()
            tensors = {name: stored.get_tensor(name) for name in names}
    except (SafetensorError, TypeError, AttributeError, OSError) as error:
        if head.startswith((b"PK\x03\x04", b"\x80")):
            raise ModelError(
                f"{path} is no model file but an archive or a pickle, which is never loaded. "
                "Model files are written by netsharp run."
            ) from None
        raise ModelError(
            f"{path} is damaged, or no model file ({error}). Train again or take a copy."
        ) from None
    values: dict[str, Any] = {}
    for name, text in metadata.items():
        if name in ("format", "version"):
            continue
        try:
            values[name] = json.loads(text)
        except (ValueError, RecursionError):
            raise ModelError(f"{path} is damaged: its entry '{name}' is no JSON.") from None
    return values, tensors


def _head(path: str) -> bytes:
    """The first bytes of a file that can be read and is not too short."""
    if os.path.isdir(path):
        raise ModelError(f"{path} is a directory, not a model file.")
    try:
        with open(path, "rb") as stream:
            head = stream.read(SMALLEST_FILE)
    except FileNotFoundError:
        raise ModelError(f"There is no model file {path}.") from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}.") from None
    if len(head) < SMALLEST_FILE:
        raise ModelError(f"{path} is no model file: it has only {len(head)} bytes.")
    return head


def _check_version(path: str, metadata: Mapping[str, str]) -> None:
    if metadata.get("format") != FORMAT:
        raise ModelError(
            f"{path} is a safetensors file, but not one that netsharp wrote: it has no "
            "specification. Models are written by netsharp run."
        )
    version = metadata.get("version", "")
    if not version.isdigit():
        raise ModelError(f"{path} is damaged: its format version is '{version}'.")
    if int(version) > VERSION:
        raise ModelError(
            f"{path} has format version {version}; this netsharp reads up to {VERSION}. "
            "Install a newer netsharp to use it."
        )
