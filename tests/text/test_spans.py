"""Spans answer as a plain search through all of them would."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.text.spans import Spans

SPAN = st.tuples(st.integers(0, 40), st.integers(0, 8)).map(lambda pair: (pair[0], sum(pair)))


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(SPAN, max_size=8), SPAN)
def test_touching_is_what_a_search_finds(
    spans: list[tuple[int, int]], asked: tuple[int, int]
) -> None:
    found = Spans(spans)
    start, end = asked
    assert found.touches(start, end) == any(a <= end and start <= b for a, b in spans)
    assert bool(found) == bool(spans)


def test_a_span_added_later_counts() -> None:
    spans = Spans([(4, 6)])
    assert not spans.touches(10, 11)
    spans.add(9, 12)
    assert spans.touches(10, 11)
    assert spans.around(10, 11) == (9, 12)
    assert spans.around(10, 13) is None
    assert spans.around(2, 3) is None
