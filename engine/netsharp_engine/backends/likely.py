"""Whether a computer is likely to have a device that a family computes on; no family is imported.

Asking torch itself takes seconds: files of drivers say nearly as much.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

#: Files of the drivers of NVIDIA, of AMD, and of WSL.
_DRIVERS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dxg")
#: Files of any GPU on Linux.
_ANY_GPU = ("/dev/dri", "/dev/dxg", "/dev/nvidiactl")


def installed(package: str) -> bool:
    """Return whether a package is there, without importing it."""
    return find_spec(package) is not None


def torch_is_likely() -> bool:
    """Return whether torch, which is installed, may find a device other than the processor."""
    try:
        build = version("torch").partition("+")[2]
    except PackageNotFoundError:
        return False
    if sys.platform == "darwin":
        return os.uname().machine == "arm64"
    if build == "cpu" or os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return build == "xpu"
    if sys.platform == "win32":
        root = os.environ.get("SYSTEMROOT", r"C:\Windows")
        return os.path.exists(os.path.join(root, "System32", "nvcuda.dll")) or build == "xpu"
    return any(map(os.path.exists, _DRIVERS)) or (build == "xpu" and os.path.exists("/dev/dri"))


def wgpu_is_likely() -> bool:
    """Return whether wgpu, which is installed, may find an adapter."""
    return sys.platform in ("darwin", "win32") or any(map(os.path.exists, _ANY_GPU))
