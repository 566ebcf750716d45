"""Migration from NDL to BrainScript in an editor: one rule, one builder, or all that belongs
together. Does not know how the proof works.
"""

from __future__ import annotations

from netsharp_lsp.cntk.migration.actions import moves_at, units_around, whole
from netsharp_lsp.cntk.migration.rules import FOLDER
from netsharp_lsp.diagnostics.pages import RuleBook
from netsharp_lsp.ide.answers import Action, Changes, FileEdits, Migration
from netsharp_lsp.once import once
from netsharp_lsp.text.edits import Edit
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.migration.actions import Move
    from netsharp_lsp.cntk.migration.unit import Unit

KIND = "refactor.rewrite.migrate"
RULES = RuleBook(FOLDER)
#: The languages that hold what can be migrated.
_MIGRATED = ("cntk", "ndl")
NOTHING = "There is no network in NDL here: nothing to migrate."
DONE = "The networks before and after are proven equal."


def migrations_at(edited: Edited, offset: int) -> Iterator[Action]:
    """Yield the migrations that are offered at an offset."""
    units = migrated_units(edited)
    if not units:
        return
    for move in moves_at(edited.experiments, edited.files, (edited.name, offset), units):
        title = f"{move.title}: {RULES.title(move.rule)}" if move.rule else move.title
        changes = _changes(edited, move)
        sentences = () if move.unit is None else (DONE, *_sentences(edited, move.unit))
        if changes.edits or changes.elsewhere:
            yield Action(
                title, KIND, changes.edits, elsewhere=changes.elsewhere, sentences=sentences
            )


def migration_of(edited: Edited) -> Migration:
    """Return the migration of everything that the text belongs to."""
    units = migrated_units(edited)
    if not units:
        return Migration(None, (NOTHING,))
    sentences = tuple(sentence for unit in units for sentence in _sentences(edited, unit))
    if any(unit.plan.fails for unit in units):
        return Migration(None, ("Nothing is migrated.", *sentences))
    moves = [whole(unit, "") for unit in units]
    changes = [_changes(edited, move) for move in moves]
    edits = tuple(edit for one in changes for edit in one.edits)
    elsewhere = tuple(edit for one in changes for edit in one.elsewhere)
    return Migration(Changes(edits, elsewhere), (DONE, *sentences))


@once
def migrated_units(edited: Edited) -> Sequence[Unit]:
    """Return the units that a text belongs to."""
    if edited.language not in _MIGRATED:
        return ()
    return units_around(edited.experiments, edited.files, edited.name)


def _changes(edited: Edited, move: Move) -> Changes:
    """Return the edits of a move as those of this text, of other files, and of new files."""
    by_file = {
        file: tuple(Edit(one.start, one.end, one.text) for one in edits)
        for file, edits in move.edits.items()
    }
    own = by_file.pop(edited.name, ())
    elsewhere = [FileEdits(file, edits) for file, edits in by_file.items() if edits]
    for file, text in move.created.items():
        before = edited.read(file)
        edit = Edit(0, len(before or b""), text)
        if file == edited.name:
            own = (edit,)
        elif before != text.encode():
            elsewhere.append(FileEdits(file, (edit,), creates=before is None))
    return Changes(own, tuple(elsewhere))


def _sentences(edited: Edited, unit: Unit) -> Iterator[str]:
    """Yield notes about a unit for the user: what differs, and what to check."""
    for result in unit.plan.networks:
        for difference in result.differences:
            yield f"{result.command}: {difference.message}"
        if result.note:
            yield f"{result.command}: {result.note}"
    lines: dict[str, LineIndex] = {}
    for todo in unit.plan.todo:
        if todo.file not in lines:
            lines[todo.file] = LineIndex(edited.read(todo.file) or b"")
        line = lines[todo.file].line_at(todo.start) + 1
        name = todo.file.replace("\\", "/").rpartition("/")[2]
        yield f"{name}:{line}: {todo.message}"
