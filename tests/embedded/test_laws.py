"""What holds for every host of the corpus: places, formatting in place, nothing else touched."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from netsharp_lsp.cli.inputs.embedded import ReadHost, examine_host, format_host
from netsharp_lsp.cli.inputs.files import Input
from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.embedded.finding import find_regions
from netsharp_lsp.embedded.hosts import host_of
from netsharp_lsp.embedded.regions import Region
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.netsharp.formatting import format_text
from netsharp_lsp.text.lines import LineIndex
from tests.embedded.hosts import read_host

CORPUS = Path(__file__).parent.parent / "corpus" / "embedded"
HOSTS = {path.name: path.read_bytes() for path in sorted(CORPUS.iterdir())}
every_host = pytest.mark.parametrize("name", HOSTS)
EXPECTED = re.compile(rb"!(NS\d+)")


def regions_of(name: str, data: bytes) -> list[Region]:
    return find_regions(host_of(name) or "", data)


def formatted(name: str, data: bytes) -> bytes:
    done = format_host(Input(name, None), data, regions_of(name, data), FormatOptions())
    assert done.failure is None
    return done.text


def outside(data: bytes, regions: list[Region]) -> list[bytes]:
    pieces, at = [], 0
    for region in regions:
        pieces.append(data[at : region.start])
        at = region.end
    return [*pieces, data[at:]]


def test_the_corpus_has_every_kind_of_host() -> None:
    kinds = {host_of(name) for name in HOSTS}
    assert kinds == {"python", "r", "markdown", "rmd", "quarto", "ipynb", "sql"}
    assert sum(len(regions_of(name, data)) for name, data in HOSTS.items()) >= 35


@every_host
def test_formatting_changes_no_byte_outside(name: str) -> None:
    data = HOSTS[name]
    after = formatted(name, data)
    before_regions, after_regions = regions_of(name, data), regions_of(name, after)
    assert outside(after, after_regions) == outside(data, before_regions)
    assert [(r.name, r.context) for r in after_regions] == [
        (r.name, r.context) for r in before_regions
    ]


@every_host
def test_the_host_says_the_formatted_text_and_nothing_else_changed(name: str) -> None:
    data = HOSTS[name]
    before, after = read_host(name, data), read_host(name, formatted(name, data))
    assert after.rest == before.rest
    assert len(after.strings) == len(before.strings)
    wanted = {
        words(region.text.decode()): words(format_text(region.text).text.decode())
        for region in regions_of(name, data)
        if region.editable
    }
    for old, new in zip(before.strings, after.strings, strict=True):
        changed = words(new)
        assert changed in (words(old), wanted.get(words(old))) or name.endswith(NESTED)


#: Hosts whose strings hold more than a specification.
NESTED = (".ipynb", ".Rmd", ".qmd", ".md", ".sql")


def words(text: str) -> str:
    """A text without the look of its lines."""
    return "\n".join(line.strip() for line in text.strip().splitlines() if line.strip())


@every_host
def test_what_was_formatted_is_in_order(name: str) -> None:
    data = HOSTS[name]
    once = formatted(name, data)
    assert formatted(name, once) == once
    for region in regions_of(name, once):
        several_lines = b"\n" in region.text.strip()
        if region.editable and several_lines:
            assert words(format_text(region.text).text.decode()) == words(region.text.decode())


@every_host
def test_offsets_go_there_and_back(name: str) -> None:
    data = HOSTS[name]
    for region in regions_of(name, data):
        outer = [region.outer(inner) for inner in range(len(region.text) + 1)]
        assert outer == sorted(outer)
        assert region.start <= outer[0]
        assert outer[-1] == region.end
        for inner, place in enumerate(outer):
            back = region.inner(place)
            assert back is not None
            assert region.outer(back) == place
            assert back <= inner
        assert region.inner(region.start - 1) is None
        assert region.inner(region.end + 1) is None


@every_host
def test_words_stand_where_the_host_has_them(name: str) -> None:
    data = HOSTS[name]
    for region in regions_of(name, data):
        for word in re.finditer(rb"[A-Za-z0-9_]+", region.text):
            start, end = region.outer_span(*word.span())
            written = data[start:end]
            assert written == word.group() or b"\\" in written


@every_host
def test_errors_are_on_the_lines_that_say_so(name: str) -> None:
    data = HOSTS[name]
    lines = LineIndex(data)
    contexts = (Context(), Context())
    host = ReadHost(Input(name, None), data)
    found = examine_host(host, contexts, Selection((), ()))
    errors = {(lines.line_at(d.start), d.code) for d in found if d.severity == "error"}
    expected = {
        (lines.line_at(mark.start()), mark.group(1).decode()) for mark in EXPECTED.finditer(data)
    }
    assert errors == expected


@every_host
def test_half_a_host_never_raises(name: str) -> None:
    data = HOSTS[name]
    for end in range(0, len(data), 41):
        cut = data[:end].decode("utf-8", "ignore").encode()
        for region in regions_of(name, cut):
            assert region.start <= region.end <= len(cut)
            assert region.outer(0) >= region.start
