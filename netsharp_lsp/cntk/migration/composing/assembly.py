"""Assembly of the edited texts of a network: sections become one record, variables members, a
selection conditions.
"""

from __future__ import annotations

from textwrap import dedent, indent

from netsharp_lsp.cntk.formatting import format_text
from netsharp_lsp.cntk.migration.editing.edits import applied
from netsharp_lsp.cntk.migration.editing.texts import LOADED, RUN
from netsharp_lsp.cntk.ndl.syntax import Definition, NdlCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from netsharp_lsp.cntk.configuration.entries import Entry
    from netsharp_lsp.cntk.configuration.scope import Scope
    from netsharp_lsp.cntk.migration.editing.edits import Edit
    from netsharp_lsp.cntk.migration.editing.texts import Text

#: Options that name the sections, or the files: removed once these are joined.
_KEYS = frozenset((b"load", b"run", b"networkdescription", b"ndlmacros"))
#: Options of a builder that have no counterpart.
DROPPED = frozenset((b"randomseedoffset", b"dumpfilename", b"deviceid"))
NETWORK = "new ComputationNetwork"


class Section:
    """A piece of a network: its role, its name and its text as BrainScript."""

    __slots__ = ("name", "pure", "role", "written")

    def __init__(self, text: Text, written: str) -> None:
        self.role = text.role
        self.name = text.section
        self.written = written
        #: Whether it only defines functions and numbers.
        self.pure = all(
            isinstance(one, Definition) or not isinstance(one.value, NdlCall)
            for one in text.script.statements
        )


def written(
    text: Text, data: bytes, edits: Iterable[Edit], span: tuple[int, int] | None = None
) -> str:
    """Return a text with its edits, without its brackets and the indentation common to all
    lines.
    """
    start, end = span if span is not None else inner(text, data)
    body = applied(data, edits, start, end).decode("utf-8", "replace")
    return _dedented(body)


def _dedented(body: str) -> str:
    """Return lines without their common indentation; the first may follow a bracket."""
    body = body.replace("\r\n", "\n")
    first, newline, rest = body.partition("\n")
    if first.strip():
        return f"{first.strip()}{newline}{dedent(rest)}".strip("\n").rstrip()
    return dedent(rest).strip("\n").rstrip()


def inner(text: Text, data: bytes) -> tuple[int, int]:
    """Return the span of a text in its file, without the brackets around it."""
    _, start, end = text.where(0, len(text.data))
    if text.section and data[start : start + 1] in (b"[", b"{"):
        return start + 1, end - 1
    if not text.section:
        return 0, len(data)
    return start, end


def commented_out(
    entries: Iterable[Entry], used: frozenset[str], comments: Mapping[bytes, str]
) -> str:
    """Return the records that are not run, as comments, each after its `comments` by key."""
    lines = []
    for entry in entries:
        key = entry.key.lower()
        if key in _KEYS or key in DROPPED or key.decode("utf-8", "replace") in used:
            continue
        lines += comments.get(key, "").splitlines()
        for part in entry.parts:
            record = part.record
            start = record.text.place(*record.key)
            end = record.text.place(*record.whole)
            raw = start.source.text[start.start : max(end.end, start.end)]
            raw_lines = _dedented(raw.decode("utf-8", "replace")).split("\n")
            lines += [f"# {line}".rstrip() for line in raw_lines]
    return "\n".join(lines)


def comments_above(comments: str, text: str) -> str:
    """Return a text with comments above it."""
    return f"{comments}\n{text}" if comments else text


def joined(pieces: Iterable[str]) -> str:
    """Return pieces of a record, one below the other with an empty line between them."""
    return "\n\n".join(piece for piece in pieces if piece.strip())


def selection(sections: Sequence[Section], variable: str, message: str) -> str:
    """Return a network that selects by a variable; `message` is shown if nothing is selected."""
    loaded = [one.written for one in sections if one.role == LOADED and not one.pure]
    branches = [one for one in sections if one.role == RUN]
    lines = [NETWORK]
    for number, one in enumerate(branches):
        word = "if" if number == 0 else "else if"
        body = indent(joined([*loaded, one.written]), "    ")
        lines.append(
            f'    {word} {variable} == "{one.name}" then {{\n{indent(body, "    ")}\n    }}'
        )
    lines.append(f"    else Fail ({message})")
    return "\n".join(lines)


def members(
    table: Mapping[tuple[str, bool], str], used: Mapping[tuple[str, bool], str], own: Scope
) -> str:
    """Return the members that replace variables.

    What is defined in a block is not a variable for the text of that block: its value is used.
    """
    lines = []
    for key, variable in used.items():
        owner = own.owner(variable.encode())
        inside = owner is not None and owner.parent is not None
        entry = owner.here(variable.encode()) if owner is not None and inside else None
        value = f"${variable}$"
        if entry is not None:
            value = entry.text.text.decode("utf-8", "replace")
        lines.append(f'{table[key]} = "{value}"' if key[1] else f"{table[key]} = {value}")
    return "\n".join(lines)


def formatted_file(text: str) -> str:
    """Return a formatted file of BrainScript."""
    result = format_text(f"{text}\n".encode(), "brainscript")
    return result.text.decode("utf-8")


def formatted_builder(value: str, margin: str) -> str:
    """Return a builder as a formatted record of a configuration, indented by a margin."""
    result = format_text(f"BrainScriptNetworkBuilder = {value}\n".encode(), "cntk")
    lines = result.text.decode("utf-8").rstrip("\n").split("\n")
    return "\n".join([lines[0], *(f"{margin}{line}".rstrip() for line in lines[1:])])
