"""Which devices torch has here, and a back end on one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch

from netsharp_engine.graph import GraphError
from netsharp_engine.ops.tensors import TENSORS
from netsharp_engine.program import Job, Unusable
from netsharp_engine.torch_backend.draft import TorchDraft
from netsharp_engine.torch_backend.tensors import TorchTensorDraft

#: Devices as they are tried where none is named.
KINDS = ("cuda", "xpu", "mps", "cpu")
#: Devices without numbers of 64 bits.
SINGLE = ("mps",)
REMEDIES = {
    "cuda": "Install the driver and a PyTorch with CUDA (or ROCm): https://pytorch.org.",
    "mps": "It needs a Mac with Apple silicon.",
    "xpu": "Install Intel's driver and a PyTorch with XPU: https://pytorch.org.",
}


class FoundKind(NamedTuple):
    """A device that can be used, and what it is called."""

    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class TorchBackend:
    """PyTorch on one kind of device; ``halved``: products are of bfloat16."""

    kind: str
    halved: bool = False

    @property
    def name(self) -> str:
        """Return the device's name on a command line."""
        return f"torch:{self.kind}"

    @property
    def title(self) -> str:
        """Return the title of the back end and its device."""
        products = ", products of bf16" if self.halved else ""
        device = title_of(self.kind) if is_there(self.kind) else f"{self.kind}, which is not here"
        return f"PyTorch {torch.__version__}, {device}{products}"

    def __call__(self, job: Job) -> TorchDraft | TorchTensorDraft:
        """Draft a job; GraphError for numbers that the device has not."""
        if job.dtype == "float64" and self.kind in SINGLE:
            raise GraphError(
                f"{self.name} has no numbers of float64. Choose dtype = float32, or another device."
            )
        drafting = TorchTensorDraft if _is_cntk(job) else TorchDraft
        return drafting(job, self.kind, halved=self.halved)


def _is_cntk(job: Job) -> bool:
    """Return whether all operations of a network are CNTK's."""
    return all(node.op == "input" or node.op in TENSORS for node in job.graph.nodes)


def is_there(kind: str) -> bool:
    """Return whether torch can compute on such a device here."""
    if kind == "cuda":
        return bool(torch.cuda.is_available())
    if kind == "xpu":
        return hasattr(torch, "xpu") and bool(torch.xpu.is_available())
    if kind == "mps":
        return bool(torch.backends.mps.is_available())
    return True


def title_of(kind: str) -> str:
    """Return the title of the device of a kind."""
    if kind == "cuda":
        driver = f"HIP {torch.version.hip}" if torch.version.hip else f"CUDA {torch.version.cuda}"
        return f"{torch.cuda.get_device_name()} ({driver})"
    if kind == "xpu":
        return str(torch.xpu.get_device_name())
    return {"mps": "Apple's GPU", "cpu": "the processor"}[kind]


def found_kinds() -> tuple[FoundKind, ...]:
    """Return the devices that are here, those first that are chosen first."""
    return tuple(FoundKind(kind, title_of(kind)) for kind in KINDS if is_there(kind))


def torch_backend(kind: str = "", *, halved: bool = False) -> TorchBackend | Unusable:
    """Return the back end on a kind of device, on the first that is here where none is named."""
    if not kind:
        return TorchBackend(found_kinds()[0].kind, halved)
    if not is_there(kind):
        return Unusable(f"PyTorch {torch.__version__} finds no {kind} here.", REMEDIES[kind])
    return TorchBackend(kind, halved)
