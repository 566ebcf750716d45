"""CNTK's networks in PyTorch's operations: a row for each operation, gradients by autograd."""

from netsharp_engine.torch_backend.tensors.draft import TorchTensorDraft
from netsharp_engine.torch_backend.tensors.program import TorchTensorProgram

__all__ = ["TorchTensorDraft", "TorchTensorProgram"]
