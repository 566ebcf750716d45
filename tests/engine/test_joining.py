"""What may be joined to a product: nothing that another call comes between, or says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from netsharp_engine.numpy_backend.kernels import functions, products
from netsharp_engine.numpy_backend.kernels.joining import joined
from netsharp_engine.numpy_backend.kernels.site import Call
from tests.conftest import SEED

pytestmark = pytest.mark.skipif(products.twins is None, reason="no compiler took the twins")

ROWS, DEPTH, COLUMNS = 4, 5, 6
#: Calls of a scene, and the arrays that they leave behind.
Scene = tuple[list[Call], list[Any]]


def numbers(*shape: int, dtype: str = "float32") -> Any:
    return np.random.default_rng([SEED, *shape]).standard_normal(shape).astype(dtype)


def made(out: Any) -> Call:
    """A product that writes to ``out`` [rows, columns]."""
    return products.compiled(numbers(out.shape[0], DEPTH), numbers(DEPTH, out.shape[1]), out)


def added(out: Any, biases: Any, **words: Any) -> Call:
    return partial(np.add, out, biases, out, **words)


def plain() -> Scene:
    out = np.zeros((ROWS, COLUMNS), np.float32)
    return [made(out), added(out, numbers(ROWS, 1)), functions.applied("tanh", out, out)], [out]


def far() -> Scene:
    """Calls that have nothing to do with it come between."""
    calls, [out] = plain()
    other = np.zeros(3, np.float32)
    return [calls[0], partial(other.fill, 2), calls[1], calls[2]], [out, other]


def masked() -> Scene:
    out = np.zeros((ROWS, COLUMNS), np.float32)
    where = numbers(ROWS, COLUMNS) > 0
    return [made(out), added(out, numbers(ROWS, 1), where=where)], [out]


def of_another_type() -> Scene:
    out = np.zeros((ROWS, COLUMNS), np.float32)
    biases = numbers(ROWS, 1, dtype="float64")
    return [made(out), added(out, biases, casting="same_kind")], [out]


def rounded() -> Scene:
    out = np.zeros((ROWS, COLUMNS), np.float64)
    left, right = (numbers(*shape, dtype="float64") for shape in ((ROWS, DEPTH), (DEPTH, COLUMNS)))
    return [products.compiled(left, right, out), added(out, numbers(ROWS, 1))], [out]


def apart() -> Scene:
    """Biases in a column of a matrix."""
    out = np.zeros((ROWS, COLUMNS), np.float32)
    return [made(out), added(out, numbers(ROWS, 3)[:, :1])], [out]


def backwards() -> Scene:
    out = np.zeros((ROWS, COLUMNS), np.float32)
    return [made(out), added(out, numbers(ROWS, 1)[::-1])], [out]


def of_itself() -> Scene:
    """Biases are what the product writes."""
    out = np.zeros((ROWS, 1), np.float32)
    wide = np.zeros((ROWS, COLUMNS), np.float32)
    return [made(wide), added(wide, wide[:, :1]), made(out), added(out, out)], [wide, out]


def reshaped() -> Scene:
    """As many numbers, whose rows are others."""
    out = np.zeros((ROWS, COLUMNS), np.float32)
    seen = out.reshape(2, ROWS, COLUMNS // 2)
    return [made(out), added(seen, numbers(ROWS, 1))], [out]


def gaps() -> Scene:
    """Other numbers from the same place on."""
    whole = np.zeros((ROWS * 2, COLUMNS * 2), np.float32)
    out, seen = whole[:ROWS, :COLUMNS], whole[::2, :COLUMNS]
    return [made(out), added(seen, numbers(ROWS, 1))], [whole]


def partly() -> Scene:
    whole = np.zeros((ROWS + 1, COLUMNS), np.float32)
    return [made(whole[:ROWS]), added(whole[1:], numbers(ROWS, 1))], [whole]


def summed() -> Scene:
    """Places that lie on one another are summed up before the function is applied."""
    out = np.zeros((1, 1, ROWS, COLUMNS), np.float32)
    left, right = numbers(1, 1, ROWS, DEPTH), numbers(1, 3, DEPTH, COLUMNS)
    return [products.compiled(left, right, out), functions.applied("tanh", out, out)], [out]


def between(hidden: Callable[[Any, Any], Call]) -> Scene:
    """A call reads what a product wrote before biases are added to it."""
    calls, [out] = plain()
    copy = np.zeros_like(out)
    return [calls[0], hidden(out, copy), *calls[1:]], [out, copy]


class Copying:
    def __init__(self, source: Any, target: Any) -> None:
        self.source, self.target = source, target

    def copied(self, by: int) -> None:
        self.target[:] = self.source * by

    def __call__(self) -> None:
        self.copied(1)


def copied(arrays: Any) -> None:
    arrays[1][:] = arrays[0]


def in_a_closure(source: Any, target: Any) -> Call:
    def copy(by: int) -> None:
        target[:] = source * by

    return partial(copy, 1)


HIDDEN = {
    "in place": lambda one, other: partial(np.copyto, other, one),
    "a view": lambda one, other: partial(np.copyto, other[:, ::-1], one[:, ::-1]),
    "a keyword": lambda one, other: partial(np.negative, one, out=other),
    "a tuple of outputs": lambda one, other: partial(np.multiply, one, 3, out=(other,)),
    "where": lambda one, other: partial(np.copyto, other, 1, where=one.view(np.int32) > 0),
    "a list": lambda one, other: partial(np.concatenate, [one[:2], one[2:]], out=other),
    "a tuple": lambda one, other: partial(copied, (one, other)),
    "a dictionary": lambda one, other: partial(copied, {0: one, 1: other}),
    "a method": lambda one, other: partial(Copying(one, other).copied, 2),
    "an object": lambda one, other: partial(Copying(one, other)),
    "a closure": in_a_closure,
    "no partial": Copying,
    "a default": lambda one, other: partial(lambda by, x=one, y=other: np.multiply(x, by, y), 2),
    "a memory view": lambda one, other: partial(np.copyto, other, memoryview(one)),
    "memory": lambda one, other: partial(np.multiply, memoryview(one), 2, other),
}
SCENES: dict[str, Callable[[], Scene]] = {
    scene.__name__: scene
    for scene in (
        *(plain, far, masked, of_another_type, rounded, apart, backwards),
        *(of_itself, reshaped, gaps, partly, summed),
    )
} | {name: partial(between, hidden) for name, hidden in HIDDEN.items()}


@pytest.mark.parametrize("name", SCENES)
def test_calls_leave_the_same_bits_joined_or_not(name: str) -> None:
    found = []
    for join in (list, joined):
        calls, arrays = SCENES[name]()
        for call in join(calls):
            call()
        found.append(arrays)
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(("scene", "left"), [(plain, 1), (far, 2)])
def test_what_can_be_joined_is(scene: Callable[[], Scene], left: int) -> None:
    assert len(joined(scene()[0])) == left
