"""What holds for every host of the corpus: places, formatting in place, nothing else touched."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from netsharp_lsp.cli.inputs.embedded import ReadHost, examine_host
from netsharp_lsp.cli.inputs.files import Input
from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.embedded.hosts import host_of
from netsharp_lsp.netsharp.formatting import format_text
from netsharp_lsp.text.lines import LineIndex
from tests.embedded.hosts import read_host
from tests.embedded.laws import (
    assert_formatting_is_stable,
    assert_nothing_outside_changes,
    assert_offsets_go_there_and_back,
    formatted,
    regions_of,
)

CORPUS = Path(__file__).parent.parent / "corpus" / "embedded"
HOSTS = {path.name: path.read_bytes() for path in sorted(CORPUS.iterdir())}
every_host = pytest.mark.parametrize("name", HOSTS)
EXPECTED = re.compile(rb"!(NS\d+)")


def test_the_corpus_has_every_kind_of_host() -> None:
    kinds = {host_of(name) for name in HOSTS}
    assert kinds == {"python", "r", "markdown", "rmd", "quarto", "ipynb", "sql"}
    assert sum(len(regions_of(name, data)) for name, data in HOSTS.items()) >= 35


@every_host
def test_formatting_changes_no_byte_outside(name: str) -> None:
    assert_nothing_outside_changes(name, HOSTS[name])


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
    assert_formatting_is_stable(name, data)
    once = formatted(name, data)
    for region in regions_of(name, once):
        several_lines = b"\n" in region.text.strip()
        if region.editable and several_lines:
            assert words(format_text(region.text).text.decode()) == words(region.text.decode())


@every_host
def test_offsets_go_there_and_back(name: str) -> None:
    assert_offsets_go_there_and_back(name, HOSTS[name])


def test_a_text_that_ends_with_a_string_of_its_notebook_ends_there() -> None:
    """After it comes the separator of two strings of JSON, not the next one."""
    source = [
        'net = """input X [3];\noutput Y [1] linear from X all;',
        '"""\nrx(netDefinition = net)',
    ]
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": source}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    data = json.dumps(notebook).encode()
    (region,) = regions_of("split.ipynb", data)
    assert data[region.end :].startswith(b'", "')
    assert_offsets_go_there_and_back("split.ipynb", data)


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
