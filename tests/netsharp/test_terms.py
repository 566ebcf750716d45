"""The compiled walk of a condition against the same condition asked pair by pair in Python."""

from __future__ import annotations

import re
from itertools import product

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.meaning.conditions.edges import Edges
from netsharp_lsp.netsharp.meaning.conditions.terms import NAMES
from netsharp_lsp.netsharp.meaning.counts.predicates import count_edges
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.meaning.values.evaluate import CALLS
from netsharp_lsp.netsharp.reading.parser import parse
from tests.collection import SAMPLES

SOURCE, DESTINATION = (4, 3), (3, 3, 2)
CONDITIONS = {
    "s[0] == d[0] && abs(s[1] - d[1]) <= 1": lambda s, d: s[0] == d[0] and abs(s[1] - d[1]) <= 1,
    "s[0] == 0 || 12 / s[0] > d[2] + 4": lambda s, d: s[0] == 0 or 12 // s[0] > d[2] + 4,
    "!(s[0] % 2 == 0) && d[0] ^ 2 < 4": lambda s, d: s[0] % 2 == 1 and d[0] < 2,
    "P[s[0]] > d[0] * 1.5": lambda s, d: (3, 1, 4, 1)[s[0]] > d[0] * 1.5,
    "s[d[1]] >= max(d[0], d[2], 1)": lambda s, d: (*s, 9)[d[1]] >= max(d[0], d[2], 1),
    "(s[0] < d[0]) == (s[1] < d[1])": lambda s, d: (s[0] < d[0]) == (s[1] < d[1]),
    "2 > 1": lambda s, d: True,
    "s == [2, 1]": lambda s, d: s == (2, 1),
    "s != " + "[" * 198 + "1" + "]" * 198: lambda s, d: True,
    "abs(" * 180 + "s[0] - d[0]" + ")" * 180 + " < 2": lambda s, d: abs(s[0] - d[0]) < 2,
}


def edges_of(condition: str, destination: tuple[int, ...] = DESTINATION) -> Edges:
    text = (
        f"const P = [3, 1, 4, 1]; input A {list(SOURCE)};\n"
        f"hidden H {list(destination)} from A where (s, d) => {condition};"
    )
    network = resolve(parse(text.encode()), Context())
    edges = count_edges(next(network.bundles()), network)
    assert edges is not None
    return edges


@pytest.mark.parametrize("condition", CONDITIONS)
def test_walk_finds_the_pairs_that_python_finds(condition: str) -> None:
    holds = CONDITIONS[condition]
    # With two destination rows only `s[d[1]]` stays inside the two dimensions of s.
    destination = (3, 2, 2) if "s[d[1]]" in condition else DESTINATION
    edges = edges_of(condition, destination)
    assert not edges.faults
    everything = list(product(*map(range, SOURCE)))
    expected = [
        (node, [at for at, s in enumerate(everything) if holds(s, d)])
        for node, d in enumerate(product(*map(range, destination)))
    ]
    assert edges.count == sum(len(sources) for _, sources in expected)
    assert list(edges.pairs()) == expected


def test_first_pair_without_a_value_is_named() -> None:
    (fault,) = edges_of("12 / (s[0] - 2) > d[1]").faults
    assert (fault.code, fault.message) == (
        "NS041",
        "Division by zero for s = [2, 0], d = [0, 0, 0].",
    )
    (fault,) = edges_of("s[d[1]] > 0").faults
    assert (fault.code, fault.message) == (
        "NS046",
        "Index 2 is outside 2 dimensions for s = [0, 0], d = [0, 2, 0].",
    )
    (fault,) = edges_of("s[0] * 1e200 * (d[0] + 1) ^ 9 ^ 9 > 1").faults
    assert fault.code == "NS043"


def test_no_word_of_a_text_gets_into_the_code() -> None:
    """Opening a file runs nothing of it: code has indices, values and functions of ours alone."""
    known = re.compile(r"(s|d|part|value)\d+|call_(\w+)|and|or|not|True|False|e|inf|nan")
    walked = 0
    for sample in SAMPLES:
        network = resolve(parse(sample.text), sample.context)
        for bundle in network.bundles():
            edges = count_edges(bundle, network)
            for term in (term for group in edges.groups for term in group.terms) if edges else ():
                for word in re.findall(r"[^\W\d]\w*", term.code):
                    match = known.fullmatch(word)
                    assert word in NAMES or (match and (match[2] is None or match[2] in CALLS))
                walked += 1
    assert walked > 40
