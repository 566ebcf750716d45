"""What may be done to a text at any place: refactorings keep the network, fixes do their work."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.netsharp import LANGUAGE
from netsharp_lsp.netsharp.describe import describe_network
from netsharp_lsp.netsharp.ide.quickfixes import unsuppressed
from netsharp_lsp.netsharp.ide.refactorings import missing_layers, shapes
from netsharp_lsp.text.edits import apply_edits
from tests.collection import RESOLVING, SAMPLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.ide.answers import Action
    from netsharp_lsp.netsharp.reading.syntax import Declaration
    from netsharp_lsp.netsharp.snapshot import Snapshot
    from tests.collection import Sample

TOKEN = re.compile(rb"\w+|[^\w\s]")
LARGE = 20_000
STEP = 97
#: Evaluations of conditions in a description, enough to notice other edges.
FEW_EVALUATIONS = 10_000
#: What changes a network on purpose.
CHANGING = (shapes.KIND, missing_layers.KIND)

every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
COMPLETE = [sample for sample in SAMPLES if sample.complete or sample.group == "good"]
INCOMPLETE = [sample for sample in SAMPLES if sample not in COMPLETE]


def offered(snapshot: Snapshot, kinds: list[str], start: int = 0, end: int = -1) -> list[Action]:
    """Everything that is offered at the starts of tokens of a range, each once."""
    data = snapshot.data
    offsets = [match.start() for match in TOKEN.finditer(data, start, end % (len(data) + 1))]
    found: dict[object, Action] = {}
    for offset in offsets[:: STEP if len(data) > LARGE else 1]:
        for action in snapshot.actions(offset, offset, kinds):
            found.setdefault((action.title, action.edits), action)
    return list(found.values())


def errors(snapshot: Snapshot) -> Counter[str]:
    return Counter(d.code for d in snapshot.check().diagnostics if d.severity == "error")


def silent(snapshot: Snapshot) -> Counter[str]:
    """The suppressions that silence nothing."""
    return Counter(
        one.message for one in unsuppressed(snapshot.data, snapshot.check()) if one.code == "NS126"
    )


def comments(snapshot: Snapshot) -> list[str]:
    """The words of all comments."""
    data = snapshot.data
    return sorted(
        " ".join(data[start:end].decode().split())
        for start, end in snapshot.network.specification.comments.spans()
    )


def described(text: bytes, renamed: tuple[str, ...] = ()) -> dict[str, Any]:
    """The network of a text; names that an action changes are left out."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(one) for key, one in value.items()}
        if isinstance(value, list):
            return [without(one) for one in value]
        if isinstance(value, str):
            return " => ".join("" if word in renamed else word for word in value.split(" => "))
        return value

    return without(LANGUAGE.describe(text, RESOLVING))


def is_plain(snapshot: Snapshot) -> bool:
    """Whether no comment steers the formatter and no `;` stands alone."""
    stray = any(one.kind == "stray" for one in snapshot.network.specification.declarations)
    return not stray and b"netsharp:" not in snapshot.data and b"fmt:" not in snapshot.data


def sound_forms() -> list[tuple[str, bytes]]:
    """Every complete sample as it is written and in the one style."""
    forms = []
    for sample in COMPLETE:
        formatted = LANGUAGE.format(sample.text, FormatOptions()).text
        forms.append((sample.name, sample.text))
        if formatted != sample.text:
            forms.append((f"{sample.name}-formatted", formatted))
    return forms


@pytest.mark.parametrize(
    ("name", "text"), [pytest.param(*form, id=form[0]) for form in sound_forms()]
)
def test_a_refactoring_keeps_the_network_the_comments_and_the_style(name: str, text: bytes) -> None:
    snapshot = LANGUAGE.open(text, RESOLVING)
    formatted = LANGUAGE.format(text, FormatOptions()).text == text and is_plain(snapshot)
    for action in offered(snapshot, ["refactor"]):
        after = apply_edits(text, action.edits)
        again = LANGUAGE.open(after, RESOLVING)
        assert comments(again) == comments(snapshot), (action.title, after.decode())
        assert not errors(again) - errors(snapshot) or action.kind in CHANGING, action
        assert not silent(again) - silent(snapshot), action
        if action.kind not in CHANGING:
            names = re.findall(r"'(\w+)'", action.title) if "Rename" in action.title else ()
            assert described(after, (*names,)) == described(text, (*names,)), action
        if action.rename_at is not None:
            assert re.match(rb"[A-Za-z_]\w* = ", after[action.rename_at :])
        if formatted:
            settled = LANGUAGE.format(after, FormatOptions()).text
            assert settled == after, (action.title, after.decode(), settled.decode())


@pytest.mark.parametrize("sample", COMPLETE, ids=lambda sample: sample.name)
def test_what_has_a_way_back_can_be_taken_back(sample: Sample) -> None:
    """Braces come off again, and an extracted constant goes back to where it was taken from."""
    text = LANGUAGE.format(sample.text, FormatOptions()).text
    snapshot = LANGUAGE.open(text, sample.context)
    if not is_plain(snapshot) or comments(snapshot):
        return
    bodies = offered(snapshot, ["refactor.rewrite.body"])
    for action in bodies + offered(snapshot, ["refactor.extract"])[:12]:
        after = apply_edits(text, action.edits)
        again = LANGUAGE.open(after, sample.context)
        if action.rename_at is not None:
            (back,) = again.actions(action.rename_at, action.rename_at, ["refactor.inline"])
            assert described(apply_edits(after, back.edits)) == described(text)
        else:
            (edit,) = action.edits
            near = edit.start + len(edit.text.encode())
            ways = offered(again, [action.kind], max(0, edit.start - 4), near)
            assert any(apply_edits(after, back.edits) == text for back in ways), after.decode()


@pytest.mark.parametrize("sample", INCOMPLETE, ids=lambda sample: sample.name)
def test_actions_of_broken_texts_lie_in_the_text_and_add_no_fault(sample: Sample) -> None:
    snapshot = LANGUAGE.open(sample.text, sample.context)
    for action in offered(snapshot, ["refactor"]):
        after = apply_edits(sample.text, action.edits)
        again = LANGUAGE.open(after, sample.context)
        assert not errors(again) - errors(snapshot) or action.kind in CHANGING, action
        assert comments(again) == comments(snapshot)


@every_sample
def test_every_rule_that_speaks_is_explained_where_it_speaks(sample: Sample) -> None:
    snapshot = LANGUAGE.open(sample.text, sample.context)
    for diagnostic in snapshot.check().diagnostics[:40]:
        found = snapshot.actions(diagnostic.start, diagnostic.start, ["quickfix"])
        explained = {action.command.arguments[0] for action in found if action.command is not None}
        fixed = {code for action in found for code, _, _ in action.fixes}
        silenced = b"netsharp:" in sample.text
        assert diagnostic.code in explained or silenced
        harmless = diagnostic.fix is None or diagnostic.fix.safe or diagnostic.severity == "error"
        assert diagnostic.fix is None or diagnostic.code in fixed or silenced or not harmless


@every_sample
def test_a_quick_fix_does_its_work_and_no_harm_elsewhere(sample: Sample) -> None:
    snapshot = LANGUAGE.open(sample.text, sample.context)
    before = unsuppressed(snapshot.data, snapshot.check())
    for action in offered(snapshot, ["quickfix"]):
        if not action.edits:
            continue
        after = apply_edits(sample.text, action.edits)
        fixed = LANGUAGE.open(after, sample.context)
        again = unsuppressed(fixed.data, fixed.check())
        for code, start, end in action.fixes:
            here = [d for d in before if (d.code, d.start, d.end) == (code, start, end)]
            own = next(d for d in here if action.message in ("", d.message))
            assert (
                reported(again)[own.code, own.message] < reported(before)[own.code, own.message]
            ), action
        if snapshot.network.doubts.broken:
            continue  # What could not be read withheld what is to be said of other places.
        assert_others_stay(snapshot, fixed, action)
        new = reported(again) - reported(before)
        uncovered = [d for d in again if d.severity == "error" and (d.code, d.message) in new]
        assert {id(place(fixed, d.start)) for d in uncovered} <= touched(fixed, action), action


def assert_others_stay(snapshot: Snapshot, fixed: Snapshot, action: Action) -> None:
    """All layers stay as they are that an action has nothing to do with.

    Those are layers whose declaration it leaves unchanged, with all that they name and the shares
    of them.
    """
    changed = {
        place(snapshot, at)
        for edit in action.edits
        for at in (edit.start, max(edit.start, edit.end - 1))
    }
    written = {word for edit in action.edits for word in re.findall(r"\w+", edit.text)}
    before, after = layers_of(snapshot), layers_of(fixed)
    for name in untouched(snapshot, changed) - written:
        assert after.get(name) == before[name], (action.title, name)


def layers_of(snapshot: Snapshot) -> dict[str, Any]:
    """What is described of each layer, by name."""
    layers = describe_network(snapshot.network, FEW_EVALUATIONS)["layers"]
    return {layer["name"]: layer for layer in reversed(layers)}


def untouched(snapshot: Snapshot, changed: set[Declaration | None]) -> set[str]:
    """The layers that nothing of what is changed has to do with."""
    network = snapshot.network
    dubious = {one.name for one in network.all_constants if one.declaration in changed}
    dubious |= {one.name for one in network.all_layers if one.declaration in changed}
    dubious |= {
        entry.item.name.text
        for share in network.shares
        if share.declaration in changed
        for entry in share.entries
    }
    found = set()
    for layer in network.layers.values():
        base = network.specification.starts[layer.declaration]
        text = snapshot.data[base : base + layer.declaration.end].decode()
        words = set(re.findall(r"\w+", text))
        if layer.declaration not in changed and not words & dubious:
            found.add(layer.name)
    return found


def place(snapshot: Snapshot, offset: int) -> Declaration | None:
    return snapshot.network.specification.declaration_at(offset)


def touched(snapshot: Snapshot, action: Action) -> set[int]:
    """The declarations in which the edits of an action stand once they are made."""
    found = set()
    shift = 0
    for edit in sorted(action.edits, key=lambda edit: edit.start):
        start = edit.start + shift
        end = start + len(edit.text.encode())
        shift += end - start - (edit.end - edit.start)
        found |= {id(place(snapshot, at)) for at in (start, end)}
    return found


def reported(diagnostics: Sequence[Diagnostic]) -> Counter[tuple[str, str]]:
    return Counter((d.code, d.message) for d in diagnostics)
