"""What an editor asks never raises, wherever it asks, and answers stay inside the text."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import pytest

from netsharp_lsp.ide.answers import HintOptions, LensOptions
from netsharp_lsp.language import language_by_id
from netsharp_lsp.netsharp.ide.places.node_paths import node_path_at
from netsharp_lsp.netsharp.reading.parser import parse
from netsharp_lsp.netsharp.reading.syntax import (
    Auto,
    Boolean,
    BundleItem,
    ConstantItem,
    LayerItem,
    Predicate,
)
from netsharp_lsp.text.edits import Edit, apply_edits
from tests.collection import RESOLVING, SAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from netsharp_lsp.context import Context
    from netsharp_lsp.interface import Snapshot
    from netsharp_lsp.netsharp.reading.specification import Specification
    from tests.collection import Sample

TOKEN = re.compile(rb"\w+|[^\w\s]")
EVERY_HINT = HintOptions(shapes=True, parameters=True, constants=True, defaults=True)
LONGEST_LABEL = 30
WORD = re.compile(rb"[A-Za-z_]\w*")
#: What completion proposes; of these, names that may be declared further down.
PROPOSED = {"activation", "attribute", "constant", "function", "keyword", "layer", "word"}
NAMES_DECLARED = {"constant", "layer"}
COMPLETE = [sample for sample in SAMPLES if sample.complete and len(sample.text) < 6_000]
#: How often a text is edited, what is written into it, and how many places are asked after that.
EDITS = 5
WRITTEN = ("", "x", ";", "}", "{", "from ", "hidden Q [3] from A all;\n", "5", "[", "// ")
ASKED = 6
#: In texts beyond this size only every `STEP`-th token is tried.
LARGE = 20_000
STEP = 97


class Span(NamedTuple):
    """A range of an answer."""

    start: int
    end: int


def hovered(snapshot: Snapshot, offset: int) -> Iterable[Span]:
    found = snapshot.hover(offset)
    if found is not None:
        assert found.markdown.count("```") % 2 == 0
        assert found.start <= offset <= found.end
        yield Span(found.start, found.end)


def completed(snapshot: Snapshot, offset: int) -> Iterable[Span]:
    labels = set()
    for proposal in snapshot.complete(offset).items:
        assert proposal.start <= offset <= proposal.end
        assert "$" not in proposal.plain
        assert proposal.snippet == ("${" in proposal.insert)
        assert not proposal.topic or snapshot.document(proposal.topic)
        assert not set(proposal.filter_text) & set(" \t\n")
        assert proposal.label not in labels
        labels.add(proposal.label)
        yield Span(proposal.start, proposal.end)


def signed(snapshot: Snapshot, offset: int) -> Iterable[Span]:
    found = snapshot.signature(offset)
    if found is not None:
        assert found.active is None or found.active < len(found.parameters)
        for parameter in found.parameters:
            assert 0 <= parameter.start < parameter.end <= len(found.label)
    return ()


def hinted(snapshot: Snapshot, offset: int) -> Iterable[Span]:
    for hint in snapshot.hints(offset, offset + 80, EVERY_HINT):
        assert offset <= hint.offset <= offset + 80
        assert 0 < len(hint.label) <= LONGEST_LABEL
        yield Span(hint.offset, hint.offset)


#: What is asked at a place; each gives the spans of its answer.
AT_A_PLACE: tuple[Callable[[Snapshot, int], Iterable[Span]], ...] = (
    hovered,
    completed,
    signed,
    hinted,
)


def places(data: bytes) -> list[int]:
    """Where each token starts, and where the text ends."""
    found = [match.start() for match in TOKEN.finditer(data)]
    return [*found[:: STEP if len(data) > LARGE else 1], len(data)]


@pytest.mark.parametrize("context", [None, RESOLVING], ids=["own", "resolving"])
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_no_question_at_a_token_fails(sample: Sample, context: Context | None) -> None:
    snapshot = language_by_id("netsharp").open(sample.text, context or sample.context)
    for offset in places(sample.text):
        for ask in AT_A_PLACE:
            for span in ask(snapshot, offset):
                assert 0 <= span.start <= span.end <= len(sample.text), (ask.__name__, offset)


def proposed(data: bytes, context: Context, offset: int, word: str) -> bool:
    """Whether a word is proposed, alone or as the beginning of something longer."""
    found = language_by_id("netsharp").open(data, context).complete(offset).items
    starts = (word.lower(), f"{word.lower()} ", f"{word.lower()}[")
    labels = [proposal.label.lower() for proposal in found]
    return any(label == starts[0] or label.startswith(starts[1:]) for label in labels)


@pytest.mark.parametrize("sample", COMPLETE, ids=lambda sample: sample.name)
def test_what_a_sound_network_says_is_proposed(sample: Sample) -> None:
    """Each word that could be proposed is, where it alone lacks and where all after it does."""
    specification = parse(sample.text)
    for match in WORD.finditer(sample.text):
        start, end = match.span()
        role = role_at(specification, start)
        if role in PROPOSED:
            word = match[0].decode()
            gap = sample.text[:start] + sample.text[end:]
            assert proposed(gap, sample.context, start, word), (role, word, start)
        if role in PROPOSED - NAMES_DECLARED:
            assert proposed(sample.text[:start], sample.context, start, word), (role, word, start)


def role_at(specification: Specification, offset: int) -> str:
    """What a word is for; empty for comments, new names and the parameters of conditions."""
    standing = node_path_at(specification, offset)
    if standing is None or specification.comments.hold(offset):
        return ""
    if isinstance(standing.leaf, BundleItem | Predicate | Auto | Boolean):
        return "word"
    declares = standing.holding(LayerItem) or standing.holding(ConstantItem)
    new = declares is not None and standing.leaf is declares.name
    return "" if new else standing.role


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_no_question_about_the_whole_fails(sample: Sample) -> None:
    snapshot = language_by_id("netsharp").open(sample.text, sample.context)
    lenses = snapshot.lenses(LensOptions("run.toml", parameters=True))
    assert all(lens.title or snapshot.lens_title(lens.key) for lens in lenses)
    graph = snapshot.graph()
    names = {layer["name"] for layer in graph.description["layers"]}
    assert names == set(graph.places) == set(graph.description["picture"]["boxes"])
    bundles = {
        (layer["name"], number)
        for layer in graph.description["layers"]
        for number in range(len(layer["bundles"]))
    }
    assert bundles == set(graph.bundle_places)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_hints_of_parts_are_those_of_the_whole(sample: Sample) -> None:
    snapshot = language_by_id("netsharp").open(sample.text, RESOLVING)
    middle = len(sample.text) // 2
    whole = snapshot.hints(0, len(sample.text), EVERY_HINT)
    parts = [
        *snapshot.hints(0, middle, EVERY_HINT),
        *snapshot.hints(middle + 1, len(sample.text), EVERY_HINT),
    ]
    assert parts == whole
    by_default = [hint.offset for hint in snapshot.hints(0, len(sample.text), HintOptions())]
    assert len(set(by_default)) == len(by_default)


@pytest.mark.parametrize("sample", SAMPLES[::5], ids=lambda sample: sample.name)
def test_answers_after_edits_are_those_of_a_fresh_text(sample: Sample, seed: int) -> None:
    language = language_by_id("netsharp")
    chance = Random(f"{seed} {sample.name}")
    snapshot = language.open(sample.text, sample.context)
    for _ in range(EDITS):
        start = chance.randrange(len(snapshot.data) + 1)
        end = min(len(snapshot.data), start + chance.choice((0, 0, 1, 5)))
        edit = Edit(start, end, chance.choice(WRITTEN))
        data = apply_edits(snapshot.data, [edit])
        if not is_text(data):
            continue
        snapshot = snapshot.edited(data, [edit])
        fresh = language.open(data, sample.context)
        for offset in [chance.randrange(len(data) + 1) for _ in range(ASKED)]:
            assert snapshot.hover(offset) == fresh.hover(offset), (data, offset)
            assert snapshot.complete(offset) == fresh.complete(offset), (data, offset)
            assert snapshot.signature(offset) == fresh.signature(offset), (data, offset)
        hints = (version.hints(0, len(data), EVERY_HINT) for version in (snapshot, fresh))
        assert next(hints) == next(hints), data


def is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8: an edit may have cut a character."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_the_digit_net_is_not_drowned_in_hints() -> None:
    """At most 6 hints and 1 lens by default."""
    digits = next(sample for sample in SAMPLES if sample.name == "guide/digits")
    snapshot = language_by_id("netsharp").open(digits.text, digits.context)
    hints = snapshot.hints(0, len(digits.text), HintOptions())
    assert [hint.label for hint in hints] == [
        "130 params",
        "1,300 params",
        "125,100 params",
        "1,010 params",
    ]
    assert len(snapshot.lenses(LensOptions("digits.toml"))) == 1
    assert snapshot.lenses(LensOptions()) == []
