"""What an editor asks of CNTK's texts never raises, wherever it asks, and answers stay inside."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest

from netsharp_engine.plain_files import kind_at
from netsharp_lsp.cntk.ide.snapshot import Snapshot as CntkSnapshot
from netsharp_lsp.context import Context
from netsharp_lsp.ide.answers import (
    TOKEN_KINDS,
    Changes,
    Elsewhere,
    HintOptions,
    LensOptions,
    Refusal,
    Renaming,
    Symbol,
)
from netsharp_lsp.language import language_by_id
from netsharp_lsp.text.decode import Source, decode
from netsharp_lsp.text.edits import Edit, apply_edits
from netsharp_lsp.workspace import Run, Workspace
from tests.cntk.collection import FILES, FOLDER, CntkFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.interface import Snapshot
    from netsharp_lsp.workspace import Count, Counted

TOKEN = re.compile(rb"\w+|[^\w\s]")
EVERY_HINT = HintOptions(shapes=True, parameters=True, constants=True, defaults=True)
#: The most places of a text at which requests are made, spread over it.
PLACES = 40
#: How often a text is edited, what is written into it, and how many places are asked after that.
EDITS = 3
WRITTEN = ("", "x", ";", "}", "{", "=", "(", "$a$", "5", "[", "# ", '"', "a = b (c)\n")
ASKED = 4


class CorpusFiles:
    """The files of the corpus by their paths below its folder."""

    def read(self, path: str) -> bytes | None:
        """The bytes of a file."""
        place = FOLDER / path
        return place.read_bytes() if place.is_file() else None

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        data = self.read(path)
        return None if data is None else count((data,))

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        return (FOLDER / path).exists()

    def kind(self, path: str) -> str | None:
        """What has the name."""
        return kind_at(FOLDER / path)

    def locate(self, path: str) -> str:
        """The path itself."""
        return path

    def outside(self, path: str) -> bool:
        return False

    def names_in(self, folder: str) -> list[str]:
        """The names of the files in a folder."""
        place = FOLDER / folder
        return [one.name for one in place.iterdir() if one.is_file()] if place.is_dir() else []


def sound_text(file: CntkFile) -> bytes | None:
    """A file as an editor shows it; None for what is not text."""
    source = decode(file.data)
    return source.text if isinstance(source, Source) and b"\0" not in source.text else None


TEXTS = [(file, text) for file in FILES if (text := sound_text(file)) is not None]
IDS = [file.name for file, _ in TEXTS]


def opened(file: CntkFile, text: bytes) -> Snapshot:
    runs = (Run((f"configFile={file.name}",)),) if file.id == "cntk" else ()
    workspace = Workspace(file.name, CorpusFiles(), runs)
    return language_by_id(file.id).open(text, Context(workspace=workspace))


def places(text: bytes) -> list[int]:
    found = [match.start() for match in TOKEN.finditer(text)]
    return [*found[:: max(1, len(found) // PLACES)], len(text)]


def ask_at(snapshot: Snapshot, offset: int) -> Iterator[tuple[int, int]]:
    """Ask everything about a place; the ranges that the answers have in this text."""
    hover = snapshot.hover(offset)
    if hover is not None:
        assert hover.start <= offset <= hover.end
        assert hover.markdown.count("```") % 2 == 0
        yield hover.start, hover.end
    labels = set()
    for proposal in snapshot.complete(offset).items:
        assert proposal.start <= offset <= proposal.end
        assert not set(proposal.filter_text) & set(" \t\r\n")
        assert (proposal.label, proposal.kind) not in labels
        labels.add((proposal.label, proposal.kind))
        yield proposal.start, proposal.end
    signature = snapshot.signature(offset)
    for parameter in signature.parameters if signature is not None else ():
        assert signature is not None
        assert 0 <= parameter.start < parameter.end <= len(signature.label)
    yield from navigated(snapshot, offset)
    for span in snapshot.selections(offset):
        assert span[0] <= offset <= span[1]
        yield span


def navigated(snapshot: Snapshot, offset: int) -> Iterator[tuple[int, int]]:
    target = snapshot.definition(offset)
    if target is not None and target.file is None:
        yield target.name_start, target.name_end
    for after in snapshot.implementations(offset):
        assert after.start <= after.name_start <= after.name_end <= after.end
        if after.file is None:
            yield after.start, after.end
    found = snapshot.references(offset, True)
    own = [one for one in found if not isinstance(one, Elsewhere)]
    assert len(set(own)) == len(own)
    yield from own
    yield from ((one.start, one.end) for one in snapshot.highlights(offset))
    renaming = snapshot.prepare_rename(offset)
    if isinstance(renaming, Renaming):
        assert renaming.start <= offset <= renaming.end
        assert (renaming.start, renaming.end) in own
    flow = snapshot.flow(offset)
    if flow is not None:
        for backwards in (False, True):
            for one in snapshot.feeds(flow.name, backwards=backwards):
                yield one.target.name_start, one.target.name_end


def ask_all(snapshot: Snapshot) -> Iterator[tuple[int, int]]:
    """Ask everything about the whole text."""
    size = len(snapshot.data)
    yield from ((one.start, one.end) for one in snapshot.check().diagnostics)
    yield from ((fold.start, fold.end) for fold in snapshot.folds())
    yield from ((link.start, link.end) for link in snapshot.links())
    for hint in snapshot.hints(0, size, EVERY_HINT):
        assert 0 < len(hint.label) <= 30
        yield hint.offset, hint.offset
    end = 0
    for first, last, kind, _ in snapshot.tokens(0, size):
        assert end <= first < last
        assert kind < len(TOKEN_KINDS)
        end = last
        yield first, last
    waiting: list[Symbol] = list(snapshot.symbols())
    for symbol in waiting:
        assert symbol.start <= symbol.name_start <= symbol.name_end <= symbol.end
        waiting += symbol.children
        yield symbol.start, symbol.end
    for lens in snapshot.lenses(LensOptions(None, True)):
        assert "\n" not in snapshot.lens_title(lens.key)
    for action in snapshot.actions(0, size, None):
        apply_edits(snapshot.data, action.edits)
    graph = snapshot.graph()
    assert set(graph.description["picture"]["boxes"]) == {
        layer["name"] for layer in graph.description["layers"]
    }


@pytest.mark.parametrize(("file", "text"), TEXTS, ids=IDS)
def test_no_question_fails(file: CntkFile, text: bytes) -> None:
    snapshot = opened(file, text)
    for start, end in ask_all(snapshot):
        assert 0 <= start <= end <= len(text)
    for offset in places(text):
        for start, end in ask_at(snapshot, offset):
            assert 0 <= start <= end <= len(text), offset
    for offset in places(text)[:: PLACES // ASKED]:
        for action in snapshot.actions(offset, offset, None):
            apply_edits(text, action.edits)
            for change in action.elsewhere:
                data = CorpusFiles().read(change.file)
                assert change.creates == (data is None)
                apply_edits(data or b"", change.edits)


@pytest.mark.parametrize(("file", "text"), TEXTS, ids=IDS)
def test_no_question_fails_after_an_edit(file: CntkFile, text: bytes) -> None:
    random = Random(file.name)
    snapshot = opened(file, text)
    for _ in range(EDITS):
        data = snapshot.data
        found = [match.span() for match in TOKEN.finditer(data)] or [(0, 0)]
        start, end = random.choice(found)
        edit = Edit(start, random.choice((start, end)), random.choice(WRITTEN))
        after = apply_edits(data, [edit])
        snapshot = snapshot.edited(after, [edit])
        assert snapshot.data == after
        fresh = opened(file, after)
        assert snapshot.check().diagnostics == fresh.check().diagnostics
        for offset in random.sample(places(after), min(ASKED, len(places(after)))):
            for low, high in ask_at(snapshot, offset):
                assert 0 <= low <= high <= len(after), (edit, offset)


@pytest.mark.parametrize(("file", "text"), TEXTS, ids=IDS)
def test_declarations_are_those_of_all_names(file: CntkFile, text: bytes) -> None:
    snapshot = opened(file, text)
    assert isinstance(snapshot, CntkSnapshot)
    declared = opened(file, text).text.declarations  # type: ignore[attr-defined]
    names = [one for one in snapshot.text.occurrences if one.declares]
    assert declared == [one for one in names if one.kind not in ("key", "section")]


RENAMED = [(file, text) for file, text in TEXTS if not file.broken]


@pytest.mark.parametrize(("file", "text"), RENAMED, ids=[file.name for file, _ in RENAMED])
def test_a_new_name_and_the_old_one_again_give_the_text_back(file: CntkFile, text: bytes) -> None:
    random = Random(file.name)
    snapshot = opened(file, text)
    found = places(text)
    for offset in random.sample(found, min(ASKED, len(found))):
        renaming = snapshot.prepare_rename(offset)
        if isinstance(renaming, Refusal):
            continue
        changes = snapshot.rename(offset, "Fresh_1")
        assert isinstance(changes, Changes), (offset, changes)
        if changes.elsewhere:
            continue
        renamed = opened(file, apply_edits(text, changes.edits))
        at = next(edit for edit in changes.edits if edit.start <= offset <= edit.end)
        before = sum(
            len(edit.text) - (edit.end - edit.start)
            for edit in changes.edits
            if edit.end <= at.start
        )
        back = renamed.rename(at.start + before, renaming.name)
        assert isinstance(back, Changes), (offset, back)
        assert apply_edits(renamed.data, back.edits).lower() == text.lower()


@pytest.mark.parametrize(("file", "text"), RENAMED, ids=[file.name for file, _ in RENAMED])
def test_a_name_that_stands_somewhere_is_proposed_there(file: CntkFile, text: bytes) -> None:
    snapshot = opened(file, text)
    assert isinstance(snapshot, CntkSnapshot)
    used = [
        one
        for one in snapshot.text.occurrences
        if one.file == snapshot.text.name and not one.declares and one.kind != "key"
    ]
    for one in Random(file.name).sample(used, min(ASKED, len(used))):
        labels = {item.label.lower() for item in snapshot.complete(one.start).items}
        assert one.name.lower() in labels, one


@pytest.mark.parametrize(("file", "text"), RENAMED, ids=[file.name for file, _ in RENAMED])
def test_a_name_is_explained_and_leads_to_its_declaration(file: CntkFile, text: bytes) -> None:
    snapshot = opened(file, text)
    assert isinstance(snapshot, CntkSnapshot)
    own = [one for one in snapshot.text.occurrences if one.file == snapshot.text.name]
    for one in Random(file.name).sample(own, min(PLACES, len(own))):
        hover = snapshot.hover(one.start)
        assert hover is not None, one
        assert hover.start <= one.start < hover.end
        target = snapshot.definition(one.start)
        assert target is not None, one
        if one.declares and one.start != target.name_start:
            first = (target.name_start, target.name_end)
            assert text[slice(*first)].lower() == one.name.lower().encode(), one


@pytest.mark.parametrize(("file", "text"), TEXTS, ids=IDS)
def test_a_range_is_coloured_as_in_the_whole(file: CntkFile, text: bytes) -> None:
    snapshot = opened(file, text)
    whole = snapshot.tokens(0, len(text))
    # One that goes over lines is several; all are given where the first one begins.
    going_on = {
        later
        for one, later in pairwise(whole)
        if one[2:] == later[2:] and not text[one[1] : later[0]].strip()
    }
    bounds = sorted({0, len(text), *places(text)})
    for start, end in zip(bounds, bounds[2:], strict=False):
        found = snapshot.tokens(start, end)
        assert set(found) <= set(whole), (start, end)
        beginning = {one for one in whole if start <= one[0] < end} - going_on
        assert beginning <= set(found), (start, end)
        assert all(start <= one[0] < end for one in found if one not in going_on), (start, end)
