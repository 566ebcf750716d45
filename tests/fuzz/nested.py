"""Specifications in strings within strings at random, which must be found, and broken hosts."""

from __future__ import annotations

import random
from collections.abc import Iterator

from netsharp_lsp.embedded.finding import find_regions, unknown_lines
from netsharp_lsp.embedded.hosts import host_of
from netsharp_lsp.importing.run_files import run_file_text
from netsharp_lsp.importing.scripts import calls_in
from netsharp_lsp.importing.translation import imported
from tests.embedded.laws import (
    assert_formatting_is_stable,
    assert_nothing_outside_changes,
    assert_offsets_go_there_and_back,
)
from tests.embedded.nesting import hosted

MUTATIONS_PER_HOST = 6
QUOTES = " // " + 4 * "'"
COMMENTS = ("", " // it's", ' // "a" \\ b', " // \u00e9 \U0001f600", " /* '' */", QUOTES)
#: What breaks strings: marks of every layer.
PIECES = (
    *(
        "'",
        "''",
        4 * "'",
        '"',
        '""',
        "N'",
        "\\",
        "\\n",
        "\n",
        "\r\n",
        "`",
        "```\n",
        "~~~~\n",
        'r"(',
    ),
    *(')"', "--", "/*", "*/", "GO\n", "+ @x +", "CONCAT(", ")", "(", ",", "{", "}", "#", ";"),
    *("rxNeuralNet(", "netDefinition = ", "@script = ", "SET QUOTED_IDENTIFIER OFF\nGO\n", "\0"),
)


def trial(chance: random.Random) -> Iterator[bytes]:
    """A host whose specification is found as it was written, then some that are broken."""
    blanks = " " * chance.randrange(1, 4)
    net = f"\ninput{blanks}X [3];{chance.choice(COMMENTS)}\noutput Y [1] linear from X all;\n"
    name, text = hosted(net, chance)
    data = text.encode()
    yield data
    found = find_regions(host_of(name) or "", data)
    assert isinstance(found, list)
    assert [one.text.decode() for one in found] == [net], (name, text)
    check_host(name, data)
    for _ in range(MUTATIONS_PER_HOST):
        broken = mutated(text, chance).encode("utf-8", "replace")
        yield broken
        check_host(name, broken)


def check_host(name: str, data: bytes) -> None:
    """Find, map, format and import; none may raise, and nothing outside may change."""
    host = host_of(name) or ""
    if isinstance(find_regions(host, data), str):
        return
    assert_offsets_go_there_and_back(name, data)
    assert_nothing_outside_changes(name, data)
    assert_formatting_is_stable(name, data)
    last = data.count(b"\n") + data.count(b"\r") + 1
    assert all(1 <= line <= last for line in unknown_lines(host, data))
    for call in calls_in(host, data)[0]:
        assert 1 <= call.line <= last
        run_file_text(imported(call, lambda _path: None), name, str)


def mutated(text: str, chance: random.Random) -> str:
    """The text with one to three marks put in, or stretches cut out."""
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice((0, 0, 1, 2, 30)))
        text = text[:start] + chance.choice((*PIECES, "", "")) + text[end:]
    return text
