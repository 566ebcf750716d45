"""Arguments that are not numbers: optimisers, losses, kinds of arithmetic, vectors.

Each function has MicrosoftML's signature and returns a plain value; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from netsharp_engine.host_arguments import OPTIMIZERS
from netsharp_lsp.microsoftml.refused import items_of, shown

#: The keys of a run that the arguments of an optimiser are.
_KEYS = {row.python: row.key for row in OPTIMIZERS}


@dataclass(frozen=True, slots=True)
class HostOptimizer:
    """A rule of the update: its name here, and the settings of the run that it makes."""

    name: str
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HostLoss:
    """The loss that is minimised, by its name in a run file."""

    name: str


@dataclass(frozen=True, slots=True)
class Math:
    """A kind of arithmetic of MicrosoftML; no result depends on it."""

    name: str


@dataclass(frozen=True, slots=True)
class ColumnVectors:
    """Vectors that `concat` makes: the columns of each, by its name."""

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
    """Return stochastic gradient descent; None is the host's default.

    ``learning_rate`` is 0.001, ``momentum`` 0, ``nag`` (Nesterov's momentum) off, ``weight_decay``
    0; the rate is multiplied by ``l_rate_red_ratio`` (1) every ``l_rate_red_freq`` (100)
    iterations, and where the error falls by less than ``l_rate_red_error_ratio`` (0).  Raises
    ValueError for a value that is not a number.
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
    return HostOptimizer("sgd", _present("sgd_optimizer", given))


def adadelta_optimizer(decay: float | None = 0.95, cond: float | None = 1e-6) -> HostOptimizer:
    """Return AdaDelta with its ``decay`` and its conditioning constant ``cond``.

    Raises ValueError for a value that is not a number.
    """
    given = {"decay": decay, "cond": cond}
    return HostOptimizer("adadelta", _present("adadelta_optimizer", given))


def log_loss() -> HostLoss:
    """Return the cross-entropy, the loss of classes."""
    return HostLoss("cross-entropy")


def squared_loss() -> HostLoss:
    """Return the squared error, the loss of numbers."""
    return HostLoss("squared")


def avx_math() -> Math:
    """Return a kind of arithmetic of MicrosoftML; no result depends on it."""
    return Math("avx")


def sse_math() -> Math:
    """Return a kind of arithmetic of MicrosoftML; no result depends on it."""
    return Math("sse")


def mkl_math() -> Math:
    """Return a kind of arithmetic of MicrosoftML; no result depends on it."""
    return Math("mkl")


def clr_math() -> Math:
    """Return a kind of arithmetic of MicrosoftML; no result depends on it."""
    return Math("clr")


def gpu_math() -> Math:
    """Return a kind of arithmetic of MicrosoftML; the processor computes in any case."""
    return Math("gpu")


def concat(cols: Mapping[str, Sequence[str]]) -> ColumnVectors:
    """Return vectors of columns, which a formula names in place of these.

    ``cols`` has the columns of each vector by its name: ``{"pixels": ["p1", "p2"]}``; a vector that
    was made before may stand for its columns.  Raises ValueError for anything else: a vector needs
    a name for the formula.
    """
    if not isinstance(cols, Mapping):
        raise ValueError(
            "concat needs the columns of each vector by its name, such as "
            f"{{'Features': ['a', 'b']}}, found {shown(cols)}."
        )
    return ColumnVectors({name: _parts(name, columns) for name, columns in cols.items()})


def _parts(name: object, columns: object) -> tuple[str, ...]:
    """Return the columns of a vector; raises ValueError where they, or its name, are not texts."""
    if isinstance(columns, str):
        columns = (columns,)
    parts = items_of(columns) or ()
    texts = tuple(str(one) for one in parts if isinstance(one, str))
    if not parts or len(texts) < len(parts) or not isinstance(name, str):
        raise ValueError(
            f"The vector {shown(name)} of concat needs a list of names of columns, found "
            f"{shown(columns)}."
        )
    return texts


def _present(function: str, given: Mapping[str, object]) -> dict[str, object]:
    """Return settings of a run for the arguments that are not None, as numbers of Python's."""
    return {
        _KEYS[name]: _number(function, name, value)
        for name, value in given.items()
        if value is not None
    }


def _number(function: str, name: str, value: object) -> bool | int | float:
    item = getattr(value, "item", None)
    plain = item() if callable(item) and getattr(value, "shape", None) == () else value
    if not isinstance(plain, bool | int | float):
        raise ValueError(f"{name} of {function} must be a number, found {shown(value)}.")
    return plain
