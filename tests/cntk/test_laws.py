"""What holds for every configuration: ours, the corpus, and anything at all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.cntk.configuration.meaning.configuration import Configuration, resolve
from netsharp_lsp.cntk.configuration.meaning.flattening import flattened, same_tree
from netsharp_lsp.cntk.configuration.records import records
from netsharp_lsp.cntk.reading.reader import read
from netsharp_lsp.cntk.reading.syntax import Assignment, Document, Flag, Macro, Name
from tests.cntk.texts import Memory, corpus, shown

FILES = corpus()
QUICK = settings(max_examples=150, deadline=None, derandomize=True)

#: Pieces of configurations, right and wrong ones.
PIECES = (
    *("a", "B", "SGD", "=", " = ", "[", "]", "{", "}", "(", ")", '"', ":", ";", ",", "\n", "\r\n"),
    *("$a$", "$B$", "$", "$$", "#", " # x", "*2", "1", "x", " ", "\t", "include=b\n", "../", "-"),
    *("BrainScriptNetworkBuilder", "default", "f(x)", "a=1\n", "B=[c=2]\n", "B={d=3}\n", "é"),
)
SOUP = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def resolved(*items: str, **files: bytes) -> Configuration:
    return resolve(list(items), Memory(dict(files)))


#: Those that the program reads to their end.
READABLE = [name for name, data in FILES.items() if resolved("f", f=data).readable]


@pytest.mark.parametrize("name", FILES)
def test_flattening_keeps_the_tree(name: str) -> None:
    before = resolved("f", f=FILES[name])
    text = flattened(before)
    assert same_tree(before, resolved("g", g=text))
    assert flattened(resolved("g", g=text)) == text


@pytest.mark.parametrize("name", FILES)
def test_every_origin_is_where_the_value_stands(name: str) -> None:
    for value in resolved("f", f=FILES[name]).values():
        written = value.origin.text.decode()
        first = (value.raw.split() or [""])[0]
        assert value.kind == "flag" or first in written, value.path


@pytest.mark.parametrize("name", READABLE)
def test_syntax_and_program_see_the_same_keys(name: str) -> None:
    text = FILES[name]
    configuration = resolved("f", f=text)
    reported = [
        (place.start, place.end)
        for record in records(configuration.root.text, configuration.faults)
        for place in [record.text.place(*record.key)]
    ]
    (source,) = configuration.layers.sources
    assert reported == [(key.start, key.end) for key in top_keys(read(source.text))]


def top_keys(document: Document) -> list[Name | Flag]:
    found: list[Name | Flag] = []
    for record in document.records:
        if isinstance(record, Assignment | Macro):
            found.append(record.name)
        elif isinstance(record, Flag):
            found.append(record)
    return found


@QUICK
@given(st.lists(SOUP, min_size=1, max_size=4))
def test_layers_are_the_text_one_after_the_other(texts: list[str]) -> None:
    parts = [text.replace("include=", "inc=").rstrip("\r\n") + "\n" for text in texts]
    files = {f"f{number}": part.encode() for number, part in enumerate(parts)}
    layered = resolve(["+".join(files)], Memory(files))
    joined = resolved("all", all="".join(parts).encode())
    assert shown(layered) == shown(joined)
    repeated = resolve([f"configFile={name}" for name in files], Memory(files))
    assert same_tree(layered, repeated)


@QUICK
@given(SOUP, SOUP)
def test_any_text_resolves_and_flattens(text: str, other: str) -> None:
    before = resolved("f", f=text.encode(), b=other.encode())
    before.values()
    if before.readable:
        assert same_tree(before, resolved("g", g=flattened(before)))


@QUICK
@given(st.binary(max_size=200), SOUP)
def test_any_bytes_and_any_argument_resolve(data: bytes, argument: str) -> None:
    configuration = resolved("f", f"x={argument}", f=data)
    sources = {value.origin.source for value in configuration.values()}
    sources |= set(configuration.layers.sources)
    for value in configuration.values():
        assert value.kind in ("text", "string", "block", "flag")
        assert value.elements is None or value.value is not None
        assert value.origin.start <= value.origin.end
        assert all(one.value.source in sources for one in value.overridden)
    for fault in configuration.faults:
        assert str(fault).endswith((".", ">"))


@QUICK
@given(SOUP)
def test_any_text_has_a_syntax(text: str) -> None:
    data = text.encode()
    document = read(data)
    last = 0
    for record in document.records:
        assert last <= record.start <= record.end <= len(data)
        last = record.end
    for inner in document.all_records():
        assert inner.end <= len(data)


@QUICK
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=8))
def test_variables_end_whatever_leads_where(edges: list[tuple[int, int]]) -> None:
    text = "".join(f"v{source}=$v{target}$.\n" for source, target in edges)
    for value in resolved("f", f=text.encode()).values():
        assert value.value is None  # No variable here has an end but an undefined one.
