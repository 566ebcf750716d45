"""A back end for graphs of tensors: nodes computed one after the other, each by its row.

It knows graphs and the seam, no language and nothing of training beyond update rules.
"""

from netsharp_engine.tensor_backend.program import TensorDraft, TensorProgram

__all__ = ["TensorDraft", "TensorProgram"]
