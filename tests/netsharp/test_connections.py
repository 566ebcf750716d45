"""Circles and paths between layers, against plain searches over random networks."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.meaning.connections import circles, consumers
from netsharp_lsp.netsharp.meaning.network import Network
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.reading.parser import parse

MOST = 7
EDGES = st.lists(st.tuples(st.integers(0, MOST - 1), st.integers(0, MOST - 1)), max_size=14)
RUN = settings(max_examples=200, derandomize=True, deadline=None)


def network_of(edges: list[tuple[int, int]]) -> Network:
    """Hidden layers H0.. with an edge (a, b) as `Hb ... from Ha`, and an input into H0."""
    text = "input I [1];\n"
    for number in range(MOST):
        sources = [f"H{a}" for a, b in edges if b == number] + (["I"] if number == 0 else [])
        text += f"hidden H{number} [1] {{ " + " ".join(f"from {s} all;" for s in sources) + " }\n"
    text += f"output O [1] from H{MOST - 1} all;\n"
    return resolve(parse(text.encode()), Context())


def reached(edges: list[tuple[int, int]], start: int) -> set[int]:
    """What an edge or more lead to, by walking until nothing is new."""
    found: set[int] = set()
    while True:
        new = {b for a, b in edges if a in found | {start}} - found
        if not new:
            return found
        found |= new


@RUN
@given(EDGES)
def test_circles(edges: list[tuple[int, int]]) -> None:
    plain = [(a, b) for a, b in edges if a != b]
    found = circles(network_of(edges).all_layers)
    assert bool(found) == any(number in reached(plain, number) for number in range(MOST))
    seen: set[str] = set()
    for circle in found:
        names = [bundle.layer.name for bundle in circle]
        assert len(set(names)) == len(names) > 1
        assert [bundle.source_name for bundle in circle] == [names[-1], *names[:-1]]
        assert circle[0].layer.order == min(bundle.layer.order for bundle in circle)
        assert not seen & set(names)
        seen |= set(names)


def test_two_circles_that_part_in_the_middle_are_reported_as_one() -> None:
    """`H1` is in both; the second is closed by layers that are not in the first."""
    found = circles(network_of([(0, 1), (1, 2), (1, 3), (2, 1), (3, 0)]).all_layers)
    assert [[bundle.layer.name for bundle in circle] for circle in found] == [["H1", "H2"]]


@RUN
@given(EDGES)
def test_consumers_are_the_other_ends_of_edges(edges: list[tuple[int, int]]) -> None:
    network = network_of(edges)
    for layer, bundles in consumers(network.all_layers).items():
        if layer.name.startswith("H"):
            number = int(layer.name[1:])
            expected = sorted(f"H{b}" for a, b in edges if a == number != b)
            expected += ["O"] if number == MOST - 1 else []
            assert sorted(b.layer.name for b in bundles) == expected


def test_connected_means_that_every_edge_is_known_and_flows() -> None:
    chain = [(number, number + 1) for number in range(MOST - 1)]
    assert network_of(chain).connected
    assert not network_of([*chain, (3, 1)]).connected
    assert not network_of([*chain, (3, 3)]).connected
    assert not network_of(chain[1:]).connected
