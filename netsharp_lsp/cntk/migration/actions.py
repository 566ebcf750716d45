"""Migration as offered in an editor: one rule in the statement at the cursor, one builder's block,
or a file with all that belongs to it. Knows no protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.migration.editing.edits import Edit, chosen
from netsharp_lsp.cntk.migration.migrate import MigrationSettings, Unit, units
from netsharp_lsp.cntk.migration.rules import RULES
from netsharp_lsp.cntk.ndl.syntax import Definition

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cntk.ndl.syntax import Statement
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.workspace import Files


class Move(NamedTuple):
    """An offered migration: edits of files by canonical path, ordered and disjoint, and the texts
    of files that are created. `rule` is empty for more than one rule; then it is all of `unit`.
    """

    title: str
    rule: str
    edits: dict[str, list[Edit]]
    created: dict[str, str]
    unit: Unit | None = None


def units_around(experiments: Sequence[Experiment], files: Files, file: str) -> list[Unit]:
    """Return the migrated units that a file belongs to."""
    found = [
        unit
        for unit in units(experiments, files, MigrationSettings(force=True))
        if file in unit.named or any(one.place[0] == file for one in unit.builders)
    ]
    for unit in found:
        unit.migrated()
    return found


def moves_at(
    experiments: Sequence[Experiment],
    files: Files,
    at: tuple[str, int],
    migrated: Sequence[Unit] | None = None,
) -> list[Move]:
    """Return the migration edits offered at a place of a file: single rules first, then larger
    parts.

    `migrated` are the file's units if they are known already.
    """
    found: dict[tuple[str, str], Move] = {}
    for unit in units_around(experiments, files, at[0]) if migrated is None else migrated:
        for move in _moves(unit, experiments, files, at):
            found.setdefault((move.title, move.rule), move)
    return list(found.values())


def _moves(
    unit: Unit, experiments: Sequence[Experiment], files: Files, at: tuple[str, int]
) -> Iterator[Move]:
    yield from _single_rules(unit, at)
    builder = next(
        (one for one in unit.builders if one.place[0] == at[0] and _holds(one.place, at[1])), None
    )
    if builder is not None and len({one.place for one in unit.builders}) > 1:
        alone = Unit([builder.experiment], [builder], files, MigrationSettings(force=True))
        alone.migrated()
        if not alone.plan.fails:
            yield whole(alone, f"Migrate the network of '{builder.command.name}' to BrainScript")
    if not unit.plan.fails:
        yield whole(unit, "Migrate this file and all that belongs to it to BrainScript")


def _holds(place: tuple[str, int, int], offset: int) -> bool:
    return place[1] <= offset <= place[2]


def whole(unit: Unit, title: str) -> Move:
    """Return the move that writes everything of a unit."""
    edits: dict[str, list[Edit]] = {}
    for edit in unit.outer_edits:
        edits.setdefault(edit.file, []).append(edit)
    created = {
        file: text.decode("utf-8") for file, text in unit.plan.texts.items() if file not in edits
    }
    return Move(title, "", {file: chosen(listed) for file, listed in edits.items()}, created, unit)


def _single_rules(unit: Unit, at: tuple[str, int]) -> Iterator[Move]:
    """Yield the rules that edit the statement at a place, one move for each."""
    span = _statement(unit, at)
    if span is None:
        return
    inside = [edit for edit in unit.inner_edits if edit.file == at[0]]
    touched = [edit for edit in inside if span[0] <= edit.start and edit.end <= span[1]]
    for rule in dict.fromkeys(edit.rule for edit in touched):
        listed = inside if RULES.traits[rule].everywhere else touched
        edits = chosen(edit for edit in listed if edit.rule == rule)
        yield Move(f"Migrate by {rule}", rule, {at[0]: edits}, {})


def _statement(unit: Unit, at: tuple[str, int]) -> tuple[int, int] | None:
    """Return the span of the innermost statement around a place, None where there is none."""
    found: tuple[int, int] | None = None
    for text in unit.texts:
        for one in _statements(text.script.statements):
            file, start, end = text.where(one.start, one.end)
            inner = found is None or end - start < found[1] - found[0]
            if file == at[0] and start <= at[1] <= end and inner:
                found = start, end
    return found


def _statements(listed: Sequence[Statement]) -> Iterator[Statement]:
    for one in listed:
        yield one
        if isinstance(one, Definition) and one.body is not None:
            yield from _statements(one.body.statements)
