"""The report of a migration, as the JSON of `netsharp migrate` and as text for people."""

from __future__ import annotations

from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from netsharp_lsp.cntk.migration.editing.edits import Edit, Todo
    from netsharp_lsp.cntk.migration.proof import Result
    from netsharp_lsp.cntk.migration.unit import Unit

    Name = Callable[[str], str]

#: Characters of a change that are shown to people.
_SHOWN = 40


class Report:
    """The migrated units of one call; `name` returns how a file is shown to people."""

    def __init__(self, units: Sequence[Unit], name: Name) -> None:
        self.units = units
        self.name = name
        self._lines: dict[str, LineIndex] = {}

    def data(self, written: Sequence[str]) -> dict[str, Any]:
        """Return the report as a JSON value."""
        return {
            "version": 1,
            "networks": [self._network(one) for unit in self.units for one in unit.plan.networks],
            "changes": [
                self._change(unit, edit) for unit in self.units for edit in unit.plan.edits
            ],
            "renames": [
                {"from": before, "to": after}
                for unit in self.units
                for before, after in unit.plan.renames.items()
            ],
            "todo": [self._todo(unit, one) for unit in self.units for one in unit.plan.todo],
            "written": list(written),
        }

    def text(self, written: Sequence[str]) -> Iterator[str]:
        """Yield the report in lines."""
        for unit in self.units:
            for one in unit.plan.networks:
                yield from self._network_lines(one)
            rules: dict[str, int] = {}
            for edit in unit.plan.edits:
                rules[edit.rule] = rules.get(edit.rule, 0) + 1
            for edit in unit.plan.edits:
                if rules.pop(edit.rule, 0):
                    yield from self._rule_lines(unit, edit.rule)
            for todo in unit.plan.todo:
                place = self._place(unit, todo.file, todo.start)
                kind = "error" if todo.blocks else "look"
                yield f"{place}: {kind} {todo.rule}: {todo.message}"
        for file in written:
            yield f"written: {file}"

    def _network_lines(self, one: Result) -> Iterator[str]:
        name = f"{self.name(one.file)}: {one.command}"
        section = f" ({one.section})" if one.section else ""
        if one.status == "none":
            yield f"{name}{section}: its builder is not needed"
            return
        yield f"{name}{section}: {one.status}, {one.nodes} nodes"
        for difference in one.differences:
            yield f"    {difference.message}"
        if one.note:
            yield f"    note: {one.note}"

    def _rule_lines(self, unit: Unit, rule: str) -> Iterator[str]:
        edits = [edit for edit in unit.plan.edits if edit.rule == rule]
        first = self._change(unit, edits[0])
        more = f", and {len(edits) - 1} more" if len(edits) > 1 else ""
        place = self._place(unit, edits[0].file, edits[0].start)
        yield f"{place}: {rule}: {_short(first['before'])} -> {_short(first['after'])}{more}"

    def _network(self, one: Result) -> dict[str, Any]:
        return {
            "file": self.name(one.file),
            "command": one.command,
            "section": one.section,
            "status": one.status,
            "nodes": one.nodes,
            "differences": [difference._asdict() for difference in one.differences],
        }

    def _change(self, unit: Unit, edit: Edit) -> dict[str, Any]:
        data = unit.originals.data(edit.file)
        return {
            "rule": edit.rule,
            "file": self.name(edit.file),
            "start": self._position(unit, edit.file, edit.start),
            "end": self._position(unit, edit.file, edit.end),
            "before": data[edit.start : edit.end].decode("utf-8", "replace"),
            "after": edit.text,
        }

    def _todo(self, unit: Unit, todo: Todo) -> dict[str, Any]:
        return {
            "rule": todo.rule,
            "file": self.name(todo.file),
            "start": self._position(unit, todo.file, todo.start),
            "end": self._position(unit, todo.file, todo.end),
            "message": todo.message,
        }

    def _place(self, unit: Unit, file: str, offset: int) -> str:
        at = self._position(unit, file, offset)
        return f"{self.name(file)}:{at['line']}:{at['column']}"

    def _position(self, unit: Unit, file: str, offset: int) -> dict[str, int]:
        if file not in self._lines:
            self._lines[file] = LineIndex(unit.originals.data(file))
        line, column = self._lines[file].position(offset)
        return {"line": line, "column": column}


def _short(text: str) -> str:
    line = " ".join(text.split())
    shown = line if len(line) <= _SHOWN else f"{line[: _SHOWN - 3]}..."
    return f"`{shown}`" if shown else "nothing"
