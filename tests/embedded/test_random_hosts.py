"""Hosts broken at random: found, mapped and formatted without a fault, and formatted once."""

from __future__ import annotations

import random

import pytest

from netsharp_lsp.embedded.finding import find_regions
from tests.costs import assert_measured, spent
from tests.embedded.laws import formatted, regions_of
from tests.embedded.test_laws import HOSTS

PIECES = (
    *('"', "'", '"""', "'''", "\\", "\n", "\r", "\r\n", "\f", "(", ")", "{", "}", "[", "]", "= "),
    *("```netsharp\n", "```\n", "> ", 'r"(', ')"', "#", 'f"', "%%netsharp\n", "\t", " ", "é", "+"),
    *("<-", "->", "net_definition=", "netDefinition = ", "# language=Net#\n", "\\N{DIGIT ONE}"),
    *(
        "''",
        "''''",
        "N'",
        "--",
        "/*",
        "*/",
        "GO\n",
        "\\\r\n",
        "+ @x +",
        "SET QUOTED_IDENTIFIER OFF\n",
    ),
    *("\\u12", "\0", "function(", "lambda x: ", ":=", "😀", "\u2028", "\x85", ".strip()"),
)


def scrambled(data: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randrange(1, 8)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice([0, 0, 1, 3, 20, 200]))
        data = data[:start] + chance.choice(PIECES).encode() + data[end:]
    return data.decode("utf-8", "ignore").encode()


@pytest.mark.parametrize("name", HOSTS)
def test_broken_hosts(name: str, seed: int) -> None:
    chance = random.Random(f"{seed} {name}")
    for _ in range(25):
        data = scrambled(HOSTS[name], chance)
        regions = regions_of(name, data)
        last = 0
        for region in regions:
            assert last <= region.start <= region.end <= len(data)
            last = region.end
            for inner in range(0, len(region.text) + 1, 11):
                outer = region.outer(inner)
                assert region.start <= outer <= region.end
                assert region.inner(outer) is not None
        once = formatted(name, data)
        reported = [b"".join(region.text.split()).lower() for region in regions]
        again = regions_of(name, once)
        assert [b"".join(region.text.split()).lower() for region in again] == reported
        assert formatted(name, once) == once


HINT = "\nnet_definition = netDefinition\n"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "x = " + "(" * 3000 + ")" * 3000),
        ("python", "x = " + "-" * 5000 + "1"),
        ("python", "f(net_definition='a'" + ".strip()" * 3000 + ")"),
        ("python", "f(a.b=1, net_definition=x)"),
        ("r", "netDefinition = " + "(" * 3000 + "'a'" + ")" * 3000),
        ("r", "function(x) " * 1000 + "1"),
        ("r", "# language=Net#\n" * 2000 + "x <- 'a'\n" * 2000),
        ("markdown", "    ```netsharp\n" * 3000),
        ("markdown", "> " * 3000 + "```netsharp\nx"),
        ("ipynb", "[" * 100_000),
        ("ipynb", '{"cells": [{"source": 3}, {"source": [3]}, {}, 3]}'),
        ("ipynb", '{"cells": {"a": 3}}'),
    ],
)
def test_hosts_that_no_one_writes(language: str, text: str) -> None:
    host = text if language == "ipynb" else text + HINT
    regions = find_regions(language, host.encode())
    if isinstance(regions, str):
        assert "too deep to be read" in regions
    else:
        assert all(region.start <= region.end for region in regions)


def test_a_long_host_without_a_specification_costs_little() -> None:
    lines = "def f(x, y=3):\n    z = x + y * 2  # comment\n    return input_of('a', z)\n\n"
    data = (lines * 500).encode()
    assert find_regions("python", data) == []
    assert_measured(lambda: spent(find_regions, "python", data), lambda cost: cost < 0.03)
