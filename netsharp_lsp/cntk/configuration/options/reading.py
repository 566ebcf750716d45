"""Reader of tables of options in Markdown: a heading is a block, a row an option; knows no option.

`### NAME` heads rows that several blocks share, and `+ NAME` means the rows of a block or of such a
group; `+ NAME, optional` the same where none is required. A later row overrides. CONTRIBUTING.md
describes the cells of a row.
"""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.options.table import KINDS, Block, Option, Span
from netsharp_lsp.cntk.versions import VERSIONS, Releases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_HEAD = ["option", "value", "default", "what it does"]
_ANY_NAME = "Blocks of any name: "
#: How an empty text is written, in a default and among words.
_EMPTY = "''"
#: Clauses of a value by their first word: those that stand alone, and those that go on.
_FLAGS: dict[str, Callable[[Option], Option]] = {
    "each": lambda option: option._replace(each=True),
    "required": lambda option: option._replace(required=True),
    "here": lambda option: option._replace(here=True),
    "cased": lambda option: option._replace(cased=True),
}
_CLAUSES: dict[str, Callable[[Option, str], Option]] = {
    "or": lambda option, rest: option._replace(values=_words(rest)),
    "formerly": lambda option, rest: option._replace(old=_words(rest)),
    "write": lambda option, rest: option._replace(instead=rest),
    "since": lambda option, rest: _with_release(option, rest, lambda one: Releases(since=one)),
    "until": lambda option, rest: _with_release(option, rest, lambda one: Releases(until=one)),
}


class TableError(Exception):
    """An invalid row of a table, with its file and line."""


class _Section:
    """A heading with its contents; `rows` are cells and their line."""

    __slots__ = ("any_name", "description", "file", "name", "rows", "shared")

    def __init__(self, name: str, file: str, shared: bool) -> None:
        self.name = name
        self.file = file
        self.shared = shared
        self.description = ""
        self.any_name = ""
        self.rows: list[tuple[list[str], int]] = []


class Tables:
    """The blocks of several files, which may share rows.

    Raises TableError.  `blocks` are by name, in the order of the files.
    """

    __slots__ = ("_options", "_sections", "blocks")

    def __init__(self, sections: Iterable[_Section]) -> None:
        self._sections = {section.name: section for section in sections}
        self._options: dict[str, tuple[Option, ...]] = {}
        self.blocks: dict[str, Block] = {}

    @classmethod
    def of(cls, files: Iterable[tuple[str, str]]) -> Tables:
        """Read the tables of pages, each with its name."""
        found = [section for name, text in files for section in _sections(name, text)]
        tables = cls(found)
        tables.blocks = {
            one.name: Block(one.name, one.description, tables.rows(one.name), one.any_name)
            for one in found
            if not one.shared
        }
        return tables

    def rows(self, name: str, within: tuple[str, ...] = ()) -> tuple[Option, ...]:
        """Return the options below a heading, with those of others that it includes."""
        if name not in self._options:
            section = self._sections[name]
            rows: dict[str, Option] = {}
            for cells, line in section.rows:
                where = f"{section.file}:{line}"
                for option in self._row(cells, where, (*within, name)):
                    rows[option.name.lower()] = option
            self._options[name] = tuple(rows.values())
        return self._options[name]

    def _row(self, cells: list[str], where: str, within: tuple[str, ...]) -> Iterable[Option]:
        if not cells[0].startswith("+ "):
            return (_option(cells, where),)
        name, comma, rest = cells[0][2:].partition(", ")
        if name not in self._sections or name in within or (comma and rest != "optional"):
            raise TableError(f"{where}: '{cells[0]}' includes rows that do not exist.")
        rows = self.rows(name, within)
        return [row._replace(required=False) for row in rows] if comma else rows


def _sections(file: str, text: str) -> Iterator[_Section]:
    """Yield the headings of a file that have rows or sentences."""
    section: _Section | None = None
    for line, content in enumerate(text.splitlines(), 1):
        if content.startswith("##"):
            if section is not None:
                yield section
            marks, _, name = content.partition(" ")
            section = _Section(name, file, shared=marks == "###")
        elif section is not None and content.startswith("| "):
            cells = [cell.strip() for cell in content[1:].rstrip("|").split("|")]
            if len(cells) != len(_HEAD):
                raise TableError(f"{file}:{line}: a row has {len(_HEAD)} cells.")
            if cells != _HEAD:
                section.rows.append((cells, line))
        elif section is not None and content.startswith(_ANY_NAME):
            section.any_name = content.removeprefix(_ANY_NAME)
        elif section is not None and content and not content.startswith("|--"):
            section.description += (" " if section.description else "") + content
    if section is not None:
        yield section


def _option(cells: list[str], where: str) -> Option:
    name, value, default, description = cells
    kind, *clauses = value.split(", ")
    kind, _, of = kind.partition(" of ")
    if kind not in KINDS:
        raise TableError(f"{where}: '{kind}' is not a kind of value.")
    option = Option(name.strip("`"), kind, _default(default), description)
    if kind == "choice":
        option = option._replace(values=_words(of))
    elif of:
        option = option._replace(inside=of)
    for clause in clauses:
        option = _with_clause(option, clause, where)
    return option


def _with_clause(option: Option, clause: str, where: str) -> Option:
    word, _, rest = clause.partition(" ")
    if clause in _FLAGS:
        return _FLAGS[clause](option)
    if word in _CLAUSES and rest:
        try:
            return _CLAUSES[word](option, rest)
        except TableError as error:
            raise TableError(f"{where}: {error}") from None
    span = _span(clause)
    if span is None:
        raise TableError(f"{where}: '{clause}' is not a clause about a value.")
    return option._replace(span=span)


def _with_release(option: Option, rest: str, known: Callable[[str], Releases]) -> Option:
    """Apply ``since 2.0`` to the option, and ``since 2.0 WORD WORD`` to some of its values."""
    release, *words = rest.split()
    if release not in VERSIONS:
        raise TableError(f"'{release}' is not a release.")
    if not words:
        return option._replace(known=known(release))
    rows = tuple((word.lower(), known(release)) for word in words)
    return option._replace(words=(*option.words, *rows))


def _span(clause: str) -> Span | None:
    """Return the span of ``from 0``, ``to 1``, ``from 0 to 1`` and ``from 0 below 1``."""
    words = clause.split()
    bounds = dict(zip(words[::2], words[1::2], strict=False))
    if len(words) % 2 or not bounds or not bounds.keys() <= {"from", "to", "below"}:
        return None
    try:
        numbers = {word: float(number) for word, number in bounds.items()}
    except ValueError:
        return None
    high = numbers.get("below", numbers.get("to"))
    return Span(numbers.get("from"), high, below="below" in numbers)


def _default(cell: str) -> str | None:
    if not cell:
        return None
    return "" if cell == _EMPTY else cell.strip("`")


def _words(text: str) -> tuple[str, ...]:
    return tuple("" if word == _EMPTY else word for word in text.split())
