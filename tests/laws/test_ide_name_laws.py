"""Names, outlines and colours of every text: no question fails, and a rename keeps the network."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.ide.answers import TOKEN_KINDS, TOKEN_MODIFIERS, Refusal, Renaming, Symbol
from netsharp_lsp.netsharp import LANGUAGE
from netsharp_lsp.netsharp.reading.mistakes import KEYWORDS
from netsharp_lsp.text.edits import apply_edits
from netsharp_lsp.text.lines import LineIndex
from tests.collection import RESOLVING, SAMPLES

if TYPE_CHECKING:
    from netsharp_lsp.netsharp.snapshot import Snapshot
    from tests.collection import Sample

TOKEN = re.compile(rb"\w+|[^\w\s]")
#: In texts beyond this size only every `STEP`-th token is tried.
LARGE = 20_000
STEP = 97
#: Names that are valid although they look like something else.
NEW_NAMES = ("Fresh_1", "Hidden2", "Tanh", "_", "Min", "Sqrt", "e5")
UNLAWFUL = ("True", "Hidden", "1A", "a b", "", "é", "floats_from_bytes")

every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
COMPLETE = [sample for sample in SAMPLES if sample.complete or sample.group == "good"]
every_complete_sample = pytest.mark.parametrize("sample", COMPLETE, ids=lambda sample: sample.name)


def opened(sample: Sample) -> Snapshot:
    return LANGUAGE.open(sample.text, sample.context)


def places(data: bytes) -> list[int]:
    """Where each token starts, and where the text ends."""
    found = [match.start() for match in TOKEN.finditer(data)]
    return [*found[:: STEP if len(data) > LARGE else 1], len(data)]


@every_sample
def test_no_question_about_a_name_fails(sample: Sample) -> None:
    snapshot = opened(sample)
    size = len(sample.text)
    for offset in places(sample.text):
        target = snapshot.definition(offset)
        if target is not None:
            assert 0 <= target.start <= target.name_start < target.name_end <= target.end <= size
        uses = snapshot.references(offset, False)
        all_places = snapshot.references(offset, True)
        assert set(uses) <= set(all_places)
        assert all(0 <= start < end <= size for start, end in all_places)
        assert all_places == sorted(all_places)
        marked = {(place.start, place.end) for place in snapshot.highlights(offset)}
        assert set(all_places) <= marked
        prepared = snapshot.prepare_rename(offset)
        if isinstance(prepared, Renaming):
            assert prepared.start <= offset <= prepared.end
            assert (prepared.start, prepared.end) in all_places
            assert sample.text[prepared.start : prepared.end].decode() == prepared.name
        else:
            assert re.match(r"[A-Z'].*\.$", prepared.message)


@every_sample
def test_all_places_of_a_name_agree_on_where_it_is_declared(sample: Sample) -> None:
    snapshot = opened(sample)
    for offset in places(sample.text):
        target = snapshot.definition(offset)
        if target is not None:
            for start, _ in snapshot.references(offset, False):
                assert snapshot.definition(start) == target


@every_sample
def test_selections_grow_to_the_whole_text(sample: Sample) -> None:
    snapshot = opened(sample)
    for offset in places(sample.text):
        ranges = snapshot.selections(offset)
        assert ranges[-1] == (0, len(sample.text))
        assert all(start <= offset <= end for start, end in ranges)
        for inner, outer in pairwise(ranges):
            assert outer[0] <= inner[0]
            assert inner[1] <= outer[1]
            assert inner != outer


@every_sample
def test_the_flow_of_data_is_the_same_both_ways(sample: Sample) -> None:
    snapshot = opened(sample)
    layers = {
        flow.name for offset in places(sample.text) if (flow := snapshot.flow(offset)) is not None
    }
    forth = {(name, to.name) for name in layers for to in snapshot.feeds(name, backwards=False)}
    back = {(of.name, name) for name in layers for of in snapshot.feeds(name, backwards=True)}
    # Of layers of one name only the first is asked, while all of them read.
    if all(layer.first for layer in snapshot.network.all_layers):
        assert forth == back


@every_sample
def test_the_outline_nests_and_is_in_order(sample: Sample) -> None:
    def nests(symbols: tuple[Symbol, ...], start: int, end: int) -> None:
        for symbol in symbols:
            assert symbol.name
            assert start <= symbol.start <= symbol.name_start
            assert symbol.name_start <= symbol.name_end <= symbol.end <= end
            nests(symbol.children, symbol.start, symbol.end)
        assert [symbol.start for symbol in symbols] == sorted(symbol.start for symbol in symbols)

    nests(tuple(opened(sample).symbols()), 0, len(sample.text))


@every_sample
def test_folds_take_more_than_a_line_and_links_lie_in_comments(sample: Sample) -> None:
    snapshot = opened(sample)
    lines = LineIndex(sample.text)
    firsts = []
    for fold in snapshot.folds():
        assert lines.line_at(fold.start) < lines.line_at(fold.end)
        firsts.append(lines.line_at(fold.start))
    assert firsts == sorted(set(firsts))
    for link in snapshot.links():
        assert snapshot.network.specification.comments.around(link.start) is not None
        assert bool(link.url) != bool(link.code)


@every_sample
def test_tokens_are_apart_and_those_of_parts_are_those_of_the_whole(sample: Sample) -> None:
    snapshot = opened(sample)
    size = len(sample.text)
    whole = snapshot.tokens(0, size)
    for before, after in pairwise(whole):
        assert before[1] <= after[0]
    for start, end, kind, modifiers in whole:
        assert sample.text[start:end].strip()
        assert not re.search(rb"[\r\n]", sample.text[start:end])
        assert 0 <= kind < len(TOKEN_KINDS)
        assert 0 <= modifiers < 1 << len(TOKEN_MODIFIERS)
    step = max(1, size // 7)
    cuts = [*range(0, size, step), size]
    assert [token for cut in pairwise(cuts) for token in snapshot.tokens(*cut)] == whole


@pytest.mark.parametrize("opening", ["//", "/*", "<!--", "#"])
def test_tokens_are_apart_where_a_zero_ends_a_comment(opening: str) -> None:
    text = f"share {{ H, G }} {opening} open \0 {'[ 9, ' * 60}; const {{ T = 1; }} an from".encode()
    tokens = LANGUAGE.open(text, Context()).tokens(0, len(text))
    assert all(before[1] <= after[0] for before, after in pairwise(tokens))
    assert TOKEN_KINDS[tokens[-1][2]] == "keyword"


@every_complete_sample
def test_every_word_of_a_sound_text_has_a_colour(sample: Sample) -> None:
    coloured = {token[0] for token in opened(sample).tokens(0, len(sample.text))}
    comments = opened(sample).network.specification.comments
    for match in re.finditer(rb"(?<![\w.])[A-Za-z_]\w*", sample.text):
        assert match.start() in coloured or comments.around(match.start()) is not None


def described(text: bytes, names: dict[str, str]) -> dict[str, Any]:
    """The network of a text with its layers called otherwise."""

    def called(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: called(one) for key, one in value.items()}
        if isinstance(value, list):
            return [called(one) for one in value]
        if isinstance(value, str):
            return " => ".join(names.get(word, word) for word in value.split(" => "))
        return value

    return called(LANGUAGE.describe(text, RESOLVING))


@every_complete_sample
def test_a_rename_keeps_the_network_and_can_be_taken_back(sample: Sample) -> None:
    snapshot = opened(sample)
    errors = sorted(d.code for d in snapshot.check().diagnostics if d.severity == "error")
    done = set()
    for offset in places(sample.text):
        prepared = snapshot.prepare_rename(offset)
        target = snapshot.definition(offset)
        if isinstance(prepared, Refusal) or target is None or target in done:
            continue
        done.add(target)
        taken = {prepared.name, *snapshot.network.layers, *snapshot.network.constants}
        new = next(
            name
            for name in NEW_NAMES[len(done) % len(NEW_NAMES) :] + NEW_NAMES
            if name not in taken
        )
        edits = snapshot.rename(offset, new)
        assert not isinstance(edits, Refusal), edits
        text = apply_edits(sample.text, edits)
        layer = prepared.name in snapshot.network.layers
        names = {prepared.name: new} if layer else {}
        assert described(text, {}) == described(sample.text, names)
        again = LANGUAGE.open(text, sample.context)
        assert sorted(d.code for d in again.check().diagnostics if d.severity == "error") == errors
        back = again.rename(edits[0].start, prepared.name)
        if prepared.name.lower() not in KEYWORDS:
            assert not isinstance(back, Refusal), back
            assert apply_edits(text, back) == sample.text


@every_sample
def test_a_rename_to_what_is_taken_is_refused(sample: Sample) -> None:
    snapshot = opened(sample)
    network = snapshot.network
    named = [*network.layers.values(), *network.constants.values()]
    for one in [one for one in named if one.name][:5]:
        offset = one.place.offsets(network.specification)[0]
        if isinstance(snapshot.prepare_rename(offset), Refusal):
            continue
        for other in named[:5]:
            if other.name and other.name != one.name:
                assert isinstance(snapshot.rename(offset, other.name), Refusal)
        for word in (
            *sorted(KEYWORDS),
            "True",
            "Hidden",
            "1A",
            "a b",
            "",
            "é",
            "floats_from_bytes",
        ):
            if word != one.name:
                assert isinstance(snapshot.rename(offset, word), Refusal), word
