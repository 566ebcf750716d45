"""Named arrays in files that other programs read: npz of NumPy, and safetensors; no pickle."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine.excerpt import excerpt
from netsharp_engine.model_file import ModelError, read_tensors, tensor_bytes
from netsharp_engine.plain_files import open_plain

Arrays = Mapping[str, npt.NDArray[Any]]
_NPZ, _TENSORS = ".npz", ".safetensors"


def array_bytes(path: str, arrays: Arrays) -> bytes:
    """Return arrays as the bytes of a file, whose format its name says; ModelError for another
    name.
    """
    if path.endswith(_TENSORS):
        return tensor_bytes(arrays)
    if not path.endswith(_NPZ):
        raise ModelError(f"{path} ends in neither {_NPZ} nor {_TENSORS}, the files of arrays.")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
            # A fixed date: the same arrays are the same bytes.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())
    return stream.getvalue()


def read_arrays(path: str) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays in a file by their names; ModelError where it has none that can be used.
    They keep their shapes and dtypes.
    """
    if path.endswith(_TENSORS):
        return read_tensors(path)
    try:
        with open_plain(path) as stream, np.load(stream, allow_pickle=False) as found:
            if not isinstance(found, np.lib.npyio.NpzFile):
                raise ModelError(f"{path} holds one array without a name. Name a file of several.")
            return {name: found[name] for name in found.files}
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or excerpt(error)}.") from None
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{path} holds no arrays, or is damaged ({excerpt(error)}).") from None
