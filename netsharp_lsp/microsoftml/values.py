"""What calls are given that is no number: optimisers, losses, kinds of arithmetic, vectors.

Each function has the original's signature and returns a plain value; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from netsharp_engine.host_arguments import OPTIMIZERS

#: The keys of a run that the arguments of an optimiser are.
_KEYS = {row.python: row.key for row in OPTIMIZERS}


@dataclass(frozen=True, slots=True)
class HostOptimizer:
    """A rule of the update: its name here, and the settings of the run that it makes."""

    name: str
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HostLoss:
    """What is minimised, as the key `loss` of a run file calls it."""

    name: str


@dataclass(frozen=True, slots=True)
class Math:
    """A kind of arithmetic of the original; no result depends on it."""

    name: str


@dataclass(frozen=True, slots=True)
class ColumnVectors:
    """ColumnVectors that `concat` makes: the columns of each, by its name."""

    columns: Mapping[str, tuple[str, ...]]


def sgd_optimizer(
    learning_rate: float | None = None,
    momentum: float | None = None,
    nag: bool | None = None,
    weight_decay: float | None = None,
    l_rate_red_ratio: float | None = None,
    l_rate_red_freq: float | None = None,
    l_rate_red_error_ratio: float | None = None,
) -> HostOptimizer:
    """Return stochastic gradient descent; what is None has the host's default.

    ``learning_rate`` is 0.001, ``momentum`` 0, ``nag`` (Nesterov's momentum) off, ``weight_decay``
    0; the rate is multiplied by ``l_rate_red_ratio`` (1) every ``l_rate_red_freq`` (100)
    iterations, and where the error falls by less than ``l_rate_red_error_ratio`` (0).
    """
    given = {
        "learning_rate": learning_rate,
        "momentum": momentum,
        "nag": nag,
        "weight_decay": weight_decay,
        "l_rate_red_ratio": l_rate_red_ratio,
        "l_rate_red_freq": l_rate_red_freq,
        "l_rate_red_error_ratio": l_rate_red_error_ratio,
    }
    return HostOptimizer("sgd", _present(given))


def adadelta_optimizer(decay: float | None = 0.95, cond: float | None = 1e-6) -> HostOptimizer:
    """Return AdaDelta with its ``decay`` and its conditioning constant ``cond``."""
    return HostOptimizer("adadelta", _present({"decay": decay, "cond": cond}))


def log_loss() -> HostLoss:
    """Return the cross-entropy, the loss of classes."""
    return HostLoss("cross-entropy")


def squared_loss() -> HostLoss:
    """Return the squared error, the loss of numbers."""
    return HostLoss("squared")


def avx_math() -> Math:
    """Return a kind of arithmetic of the original; no result depends on it."""
    return Math("avx")


def sse_math() -> Math:
    """Return a kind of arithmetic of the original; no result depends on it."""
    return Math("sse")


def mkl_math() -> Math:
    """Return a kind of arithmetic of the original; no result depends on it."""
    return Math("mkl")


def clr_math() -> Math:
    """Return a kind of arithmetic of the original; no result depends on it."""
    return Math("clr")


def gpu_math() -> Math:
    """Return a kind of arithmetic of the original; the processor computes all the same."""
    return Math("gpu")


def concat(cols: Mapping[str, Sequence[str]]) -> ColumnVectors:
    """Return vectors of columns, which a formula names in place of these.

    ``cols`` has the columns of each vector by its name: ``{"pixels": ["p1", "p2"]}``.  Raises
    ValueError for anything else: a vector needs a name for the formula.
    """
    if not isinstance(cols, Mapping):
        raise ValueError(
            "concat needs the columns of each vector by its name, such as "
            f"{{'Features': ['a', 'b']}}, found {cols!r}."
        )
    made = {}
    for name, columns in cols.items():
        several = (columns,) if isinstance(columns, str) else tuple(columns)
        if not several or not all(isinstance(one, str) for one in (name, *several)):
            raise ValueError(f"The vector {name!r} of concat needs names of columns.")
        made[name] = several
    return ColumnVectors(made)


def _present(given: Mapping[str, object]) -> dict[str, object]:
    return {_KEYS[name]: value for name, value in given.items() if value is not None}
