"""The texts of one network of NDL: the file or section of each, and the mapping from spans of the
parsed text to bytes of the source.
"""

from __future__ import annotations

from netsharp_lsp.cntk.migration.editing.edits import Edit, Todo
from netsharp_lsp.cntk.ndl.syntax import NdlCall, Option, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.cntk.configuration.sources import SourcePlace
    from netsharp_lsp.cntk.ndl.syntax import NdlScript, Value

#: What a text is to its network.
MACROS, LOADED, RUN = "macros", "load", "run"


class Text:
    """One text: `role` is `MACROS`, `LOADED` or `RUN`; `section` is its name, empty for a file as a
    whole; `in_file` is false for a text in a configuration.
    """

    __slots__ = ("_locate", "in_file", "role", "script", "section")

    def __init__(
        self,
        script: NdlScript,
        role: str,
        section: str,
        locate: Callable[[str], str],
        in_file: bool,
    ) -> None:
        self.script = script
        self.role = role
        self.section = section
        self.in_file = in_file
        self._locate = locate

    @property
    def data(self) -> bytes:
        """The text as it was parsed."""
        return self.script.text.text

    @property
    def key(self) -> tuple[str, int]:
        """Return the key of the text: its file and its start."""
        return self.where(0, len(self.data))[:2]

    def place(self, start: int, end: int) -> SourcePlace:
        """Return the source place of a span."""
        return self.script.text.place(start, end)

    def where(self, start: int, end: int) -> tuple[str, int, int]:
        """Return the canonical path and the byte span where a span was written."""
        found = self.place(start, end)
        return self._locate(found.source.name), found.start, found.end

    def edit(
        self, rule: str, start: int, end: int, text: str, *, of_variables: bool = False
    ) -> Edit:
        """Return an edit that replaces a span; `of_variables` replaces the variables themselves.

        Within the value of a variable nothing else can be edited: the edit is empty then.
        """
        file, low, high = self.where(start, end)
        if not of_variables and end > start and self.is_inside_variable(start, end):
            return Edit(rule, file, low, low, "")
        if start == end and start > 0:
            # Inserted text follows what is before it, whatever comes next.
            file, _, low = self.where(start - 1, start)
            high = low
        return Edit(rule, file, low, high, text)

    def todo(self, rule: str, span: tuple[int, int], message: str, blocks: bool = False) -> Todo:
        """Return a todo about a span."""
        return Todo(rule, *self.where(*span), message, blocks)

    def is_variable(self, start: int, end: int) -> bool:
        """Return whether a span contains a `$variable$`."""
        uses = self.script.text.uses_around(start, end)
        return any(use.at < end and use.end > start for use in uses)

    def is_inside_variable(self, start: int, end: int) -> bool:
        """Return whether a span is all or part of a `$variable$`'s value."""
        uses = self.script.text.uses_around(start, end)
        return any(use.at <= start and end <= use.end for use in uses)

    def variable(self, start: int, end: int) -> str | None:
        """Return the name of the variable whose value is exactly the span, None otherwise."""
        uses = self.script.text.uses_around(start, end)
        return next((use.name for use in uses if (use.at, use.end) == (start, end)), None)

    def written(self, start: int, end: int) -> str:
        """Return a span as it is in the source, with variables by name."""
        place = self.place(start, end)
        return place.text.decode("utf-8", "replace")


class CallArguments:
    """The arguments of a call, repeated ones once, with the text between them."""

    __slots__ = ("_text", "call", "options", "positional", "spans")

    def __init__(self, text: Text, call: NdlCall) -> None:
        self._text = text
        self.call = call
        self.positional: list[Value] = []
        self.options: list[Option] = []
        #: The span of each argument, with its quotes and its repeat count.
        self.spans: dict[int, tuple[int, int]] = {}

    @classmethod
    def of(cls, text: Text, call: NdlCall) -> CallArguments:
        """Separate options from positional arguments, and find their spans."""
        arguments = cls(text, call)
        for argument in _once(call.arguments):
            if isinstance(argument, Option):
                arguments.options.append(argument)
            else:
                arguments.positional.append(argument)
        arguments._find_spans()
        return arguments

    def _find_spans(self) -> None:
        data = self._text.data
        listed = _once(self.call.arguments)
        close = self.close
        for number, argument in enumerate(listed):
            start, end = argument.start, argument.end
            if data[start - 1 : start] == b'"' == data[end : end + 1]:
                start, end = start - 1, end + 1
            limit = listed[number + 1].start if number + 1 < len(listed) else close
            tail = data[end:limit]
            if tail.lstrip(b" \t").startswith(b"*"):
                end += len(tail) - len(tail.lstrip(b" \t*0123456789"))
                end -= len(data[:end]) - len(data[:end].rstrip(b" \t"))
            self.spans[id(argument)] = (start, end)

    @property
    def open(self) -> int:
        """Return the offset of the opening bracket."""
        return self._text.data.index(b"(", self.call.name.end)

    @property
    def close(self) -> int:
        """Return the offset of the closing bracket."""
        found = self._text.data.rfind(b")", self.open, self.call.end)
        return found if found >= 0 else self.call.end

    def span(self, argument: Value) -> tuple[int, int]:
        """Return the span of an argument."""
        return self.spans[id(argument)]

    def option(self, *names: str) -> Option | None:
        """Return the last option with one of these names, which are in lower case."""
        found = [one for one in self.options if one.name.text.lower() in names]
        return found[-1] if found else None

    def without(self, argument: Value) -> tuple[int, int]:
        """Return the span to delete with an argument: it and the separator before it, or after
        it.
        """
        listed = _once(self.call.arguments)
        place = next(n for n, one in enumerate(listed) if one is argument)
        start, end = self.span(argument)
        if place > 0:
            return self.span(listed[place - 1])[1], end
        following = self.span(listed[1])[0] if len(listed) > 1 else end
        return start, following

    def separators(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield the spans of the separators after the positional arguments `first` to `last` -
        1.
        """
        data = self._text.data
        for one, other in zip(
            self.positional[first:last], self.positional[first + 1 : last + 1], strict=False
        ):
            start, end = self.span(one)[1], self.span(other)[0]
            found = next((at for at in range(start, end) if data[at] in b",:"), None)
            if found is not None and not self._text.is_variable(found, found + 1):
                yield _with_blanks(data, found, (start, end))

    @property
    def last_end(self) -> int:
        """Return the end of the last argument, or of the opening bracket."""
        listed = _once(self.call.arguments)
        return self.span(listed[-1])[1] if listed else self.open + 1


def _with_blanks(data: bytes, at: int, limits: tuple[int, int]) -> tuple[int, int]:
    """Return the span of a separator with the blanks around it on its line."""
    start, end = at, at + 1
    while start > limits[0] and data[start - 1] in b" \t":
        start -= 1
    while end < limits[1] and data[end] in b" \t":
        end += 1
    return start, end


def _once(arguments: tuple[Value, ...]) -> list[Value]:
    """Return the arguments without repeats of the same text."""
    return list({id(one): one for one in arguments}.values())


def is_name(value: Value) -> bool:
    """Return whether a value is a word that may be a name."""
    return isinstance(value, Word) and not value.quoted and not value.is_number
