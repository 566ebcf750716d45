"""Masks of dropout: the published numbers of the generator, and the same bits in every way."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_engine.dropping import Draw, draws, kept_from, layer_mask, philox, scale_of
from tests.peers import needs_torch, peer

#: Counter, key and result of 10 rounds, as its authors publish them (Random123, kat_vectors).
KNOWN = (
    (
        "00000000 00000000 00000000 00000000",
        "00000000 00000000",
        "6627e8d5 e169c58d bc57ac4c 9b00dbd8",
    ),
    (
        "ffffffff ffffffff ffffffff ffffffff",
        "ffffffff ffffffff",
        "408f276d 41c83b0e a20bc7c6 6d5451fd",
    ),
    (
        "243f6a88 85a308d3 13198a2e 03707344",
        "a4093822 299f31d0",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
)
WORDS = st.integers(0, 2**32 - 1)


def words(text):
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN)
def test_the_published_numbers(counter, key, result):
    given_ = tuple(np.uint64(word) for word in words(counter))
    assert philox.random_words(given_, tuple(words(key))).tolist() == words(result)


def by_definition(attributes, draw, rows, size):
    """Each number of a mask by itself, from its own counter."""
    numbers = range(rows) if draw.rows is None else draw.rows.tolist()
    found = []
    for row, place in product(numbers, range(size)):
        counter = (place // 4, row, draw.step, attributes["number"])
        word = philox.random_words(tuple(map(np.uint64, counter)), draw.key)[place % 4]
        found.append(scale_of(attributes["rate"]) if word >= kept_from(attributes["rate"]) else 0.0)
    return np.reshape(found, (rows, size))


@st.composite
def cases(draw):
    rows, size = draw(st.integers(1, 5)), draw(st.integers(1, 300))
    attributes = {"number": draw(st.integers(0, 99)), "rate": draw(st.floats(1e-9, 1 - 1e-9))}
    numbers = draw(st.none() | st.lists(st.integers(0, 2**31), min_size=rows, max_size=rows))
    places = None if numbers is None else np.array(numbers)
    return attributes, Draw((draw(WORDS), draw(WORDS)), draw(WORDS), places), rows, size


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_definition_holds_with_and_without_a_compiler(dtype, monkeypatch):
    attributes = {"number": 3, "rate": 0.3}
    made = draws.twins
    for draw, (rows, size) in product(
        (Draw((1, 2**32 - 1), 77), Draw((5, 6), 2**32 - 1, np.array([9, 0, 2**31]))),
        ((3, 1), (3, 7), (3, 130)),
    ):
        wanted = by_definition(attributes, draw, rows, size).astype(dtype)
        for twins in (made, None):
            monkeypatch.setattr(draws, "twins", twins)
            out = np.full((rows, size), np.nan, dtype)
            layer_mask(attributes, draw, out)
            np.testing.assert_array_equal(out, wanted)


@needs_torch
@settings(max_examples=60, derandomize=True, deadline=None)
@given(cases())
def test_torch_draws_the_same(case):
    """Its operations run on the processor here; a device of it takes no other way."""
    torch = peer("torch")
    from netsharp_engine.torch_backend.masks import layer_mask as drawn

    attributes, draw, rows, size = case
    out = np.empty((rows, size))
    layer_mask(attributes, draw, out)
    kept = drawn(attributes, size, draw, torch.from_numpy(draw.numbers(rows)))
    np.testing.assert_array_equal(kept.numpy(), out > 0)


@pytest.mark.parametrize("rate", [0.01, 0.2, 0.5, 0.9])
def test_values_are_dropped_by_their_share_and_independently(rate):
    """Counts of neighbours in rows, steps, layers and columns are within five deviations."""
    rows, size = 200, 500
    masks = []
    for step, number in ((0, 0), (1, 0), (0, 1)):
        out = np.empty((rows, size))
        layer_mask({"number": number, "rate": rate}, Draw((8, 9), step), out)
        masks.append(out == 0)
    here = masks[0]
    pairs = [(here, other) for other in masks[1:]]
    pairs += [(here[:, :-k], here[:, k:]) for k in (1, 4)] + [(here[:-1], here[1:])]
    for share, numbers in ((rate, masks), (rate**2, [a & b for a, b in pairs])):
        for each in numbers:
            deviation = np.sqrt(share * (1 - share) / each.size)
            assert abs(each.mean() - share) < 5 * deviation


def test_arrays_that_are_too_short_are_refused():
    if draws.twins is None:
        pytest.skip("nothing was compiled")
    place, rows = np.zeros(5, np.int64), np.arange(4)
    draw = draws.twins.mask_drawn
    with pytest.raises(ValueError, match="too short"):
        draw(4, 3, 2.0, place, rows, np.empty(11, np.float32))
    with pytest.raises(ValueError, match="too short"):
        draw(4, 3, 2.0, place[:4], rows, np.empty(12, np.float32))
    for size, nodes in ((2, 3), (4, 0), (4, 2**40)):
        with pytest.raises(ValueError, match="out of range"):
            draw(size, nodes, 2.0, place, rows, np.empty(12, np.float32))
    with pytest.raises(TypeError):
        draw(4, 3)
