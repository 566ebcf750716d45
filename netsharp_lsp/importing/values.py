"""The arguments of a call in a script: plain values, calls, formulas, and unknown values.

Knows no host language and no argument.
"""

from __future__ import annotations

from typing import TypeAlias

#: Functions that inspect another and neither call it nor pass it on.
LOOKS = (
    *("help", "args", "formals", "print", "str", "class", "is", "inherits", "exists", "example"),
    *("deparse", "identical", "isinstance", "issubclass", "type", "hasattr", "callable", "repr"),
)
#: The name of an argument that stands for others, which only a run knows: `**options`, `...`.
REST = "*"


class Unknown:
    """A value that only a run of the script knows; `text` is how it is written there."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())


class ModelFormula:
    """A formula as it is written: `y ~ a + b`."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())


class FileText:
    """The text of a file that the script reads."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path


class NamedValues(list["HostValue"]):
    """A list in which some values have names; `names` has "" for those without."""

    def __init__(self, values: list[HostValue], names: list[str]) -> None:
        super().__init__(values)
        self.names = names

    def by_name(self) -> list[tuple[str, HostValue]]:
        """Return each value with its name."""
        return list(zip(self.names, self, strict=True))


class ColumnChange:
    """A change of a table, as code writes it: the column and its new value, None for more than a
    column; the table's name there, and its line.
    """

    __slots__ = ("column", "line", "table", "value", "written")

    def __init__(
        self, table: str, column: str | None, value: HostValue, line: int, written: str
    ) -> None:
        self.table = table
        self.column = column
        self.value = value
        self.line = line
        self.written = " ".join(written.split())


class ChangedValue:
    """The value of a variable before code changed it, and the changes, in order.

    `value` is an `Unknown` where the variable is assigned more than once.
    """

    __slots__ = ("changes", "value")

    def __init__(self, value: HostValue, changes: list[ColumnChange]) -> None:
        self.value = value
        self.changes = changes


class GivenArgument:
    """An argument of a call: its name, "" where it is given by place, and its line in the file."""

    __slots__ = ("line", "name", "value", "written")

    def __init__(self, name: str, value: HostValue, line: int, written: str) -> None:
        self.name = name
        self.value = value
        self.line = line
        self.written = " ".join(written.split())


class HostCall:
    """A call: `name` without its package, its arguments, the variable it is assigned to, its line.

    `around` is the call that it is an argument of, such as an ensemble; `query` is the query of a
    database for the rows of its script.
    """

    __slots__ = ("arguments", "around", "line", "name", "query", "target")

    def __init__(self, name: str, arguments: list[GivenArgument], line: int) -> None:
        self.name = name
        self.arguments = arguments
        self.line = line
        self.target: str | None = None
        self.around: HostCall | None = None
        self.query: str | None = None


HostValue: TypeAlias = (
    "str | bool | int | float | list[HostValue] | Unknown | ModelFormula | FileText | HostCall"
    " | ChangedValue | None"
)


def joined(parts: list[HostValue], between: str) -> str | None:
    """Return texts and numbers as one text, None where one is neither."""
    if not all(isinstance(one, str | int | float) for one in parts):
        return None
    return between.join(str(one) for one in parts)
