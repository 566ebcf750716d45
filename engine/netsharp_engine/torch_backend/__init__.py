"""A back end in PyTorch's operations: its kernels, its autograd, our update rules.

It knows graphs and the seam, no language and nothing of training.  Importing it imports torch.
"""

from netsharp_engine.torch_backend.devices import TorchBackend, found_kinds, torch_backend
from netsharp_engine.torch_backend.draft import TorchDraft
from netsharp_engine.torch_backend.program import TorchProgram

__all__ = ["TorchBackend", "TorchDraft", "TorchProgram", "found_kinds", "torch_backend"]
