"""Files and arguments in order, joined to the one text that CNTK reads.

Comments and empty lines are removed, included files replace their lines. Files are read through the
`Files` that is passed in.
"""

from __future__ import annotations

import os
import re

from netsharp_lsp.cntk.configuration.comments import code_span
from netsharp_lsp.cntk.configuration.faults import TextFault, TextFaults
from netsharp_lsp.cntk.configuration.items import Item, folders_of
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE, Source, SourcePlace, read_text
from netsharp_lsp.cntk.configuration.traced import Traced, Use, Weaver
from netsharp_lsp.limits import CNTK_WORDS, CONFIGURATION_FILES
from netsharp_lsp.text.extent import words_of
from netsharp_lsp.text.visible import encodable
from netsharp_lsp.workspace import no_file, outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_engine.limits import Limit
    from netsharp_lsp.workspace import Files, Hole

INCLUDE = b"include="
_MARK = b"\xef\xbb\xbf"
_LINE = re.compile(rb"[^\r\n]+")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_NO_LETTER = re.compile(r"[^A-Za-z0-9_]")
_LONE_RETURN = re.compile(rb"\r(?!\n)")
#: Files that include one another more deeply are a mistake.
_DEEPEST = 100


class Layers:
    """The contents of a command line: the `text` to parse, its `sources`, its faults.

    `stretches` are the files and arguments in order with includes expanded: a source and its bytes,
    including comments.
    """

    __slots__ = (
        "_bytes",
        "_files",
        "_holes",
        "_resolved",
        "_started",
        "_weaver",
        "_words",
        "faults",
        "sources",
        "stretches",
    )

    def __init__(self, files: Files, started: str = "") -> None:
        """Begin with nothing; `started` is the folder in which CNTK is started, where that differs
        from its working directory, the folder of `files`.
        """
        self._files = files
        self._started = started
        self._resolved: set[str] = set()
        self._holes: list[tuple[int, int, str]] = []
        self._bytes = self._words = 0
        self._weaver = Weaver()
        self.faults = TextFaults()
        self.sources: list[Source] = []
        self.stretches: list[SourcePlace] = []

    @property
    def text(self) -> Traced:
        """Return all lines, joined."""
        return self._weaver.done()

    def add_all(self, items: Sequence[Item], holes: Sequence[Hole] = ()) -> None:
        """Add the items of a command line in order, then expand includes.

        A file that an item names is therefore not included again by an earlier one. `holes` are the
        open parts of the items: variables without a value, whatever else has their name.
        """
        arguments = Source(COMMAND_LINE, encodable("\n".join(item.text for item in items)).encode())
        stretches: list[SourcePlace] = []
        at = 0
        folders, last = folders_of(items, {hole.item for hole in holes})
        for number, item in enumerate(items):
            own = [hole for hole in holes if hole.item == number]
            self._holes += [_held(item, hole, at) for hole in own]
            end = at + len(encodable(item.text).encode())
            if item.kind == "files":
                folder = folders[number]
                before = "" if folder == last else os.path.join(self._started, folder)
                stretches += self._named(item.paths, before, SourcePlace(arguments, at, end))
            else:
                stretches.append(SourcePlace(arguments, at, end))
            at = end + 1
        for stretch in stretches:
            self._expand(stretch, 0)

    def _named(self, paths: tuple[str, ...], folder: str, place: SourcePlace) -> list[SourcePlace]:
        found = []
        for path in paths:
            if path in self._resolved:
                message = f"{path} is named twice. Name each file once; a later item overrides."
                self.faults.add(TextFault("duplicate-file", message, place, name=path))
                continue
            self._resolved.add(path)
            file = os.path.join(folder, path)
            source = self._read(file)
            if self._is_outside(file, source):
                self.faults.add(TextFault("outside", outside(path), place))
            elif source is None:
                message = no_file(path, self._files.kind(file))
                self.faults.add(TextFault("missing-file", message, None))
            elif isinstance(source, Source):
                found.append(SourcePlace(source, 0, len(source.text)))
        return found

    def _is_outside(self, path: str, source: Source | bool | None) -> bool:
        """Return whether a file is missing because it may not be read."""
        return source is None and self._files.outside(path)

    def _read(self, path: str, place: SourcePlace | None = None) -> Source | bool | None:
        """Read a file: None where there is none, False where it is not a text."""
        data = self._files.read(path)
        if data is None:
            return None
        self._bytes += len(data)
        if self._bytes > CONFIGURATION_FILES.most:
            return self._too_long(path, CONFIGURATION_FILES, place)
        source = read_text(path, data)
        if isinstance(source, str):
            self.faults.add(TextFault("binary", f"{path}: {source}", None))
            return False
        self._words += words_of(source.text)
        if self._words > CNTK_WORDS.most:
            return self._too_long(path, CNTK_WORDS, place)
        if source.warning is not None:
            self.faults.add(TextFault("encoding", f"{path}: {source.warning}", None))
        self.sources.append(source)
        return source

    def _too_long(self, path: str, most: Limit, place: SourcePlace | None) -> bool:
        """Note that a file is not read because those before it are too long; return False."""
        message = f"{path} is not read: the files of a configuration have at most {most} together."
        self.faults.add(TextFault("long", message, place))
        return False

    def _expand(self, stretch: SourcePlace, depth: int) -> None:
        """Add a part line by line, and the files that its lines include."""
        source = stretch.source
        begin = stretch.start
        for line in self._lines(stretch):
            if not line.text.startswith(INCLUDE):
                if self._holes and source.name == COMMAND_LINE:
                    self._add_with_holes(line)
                else:
                    self._weaver.add(source, line.start, line.end)
                self._end_line(line)
                continue
            self._stretch(source, begin, line.start)
            self._include(line, depth)
            following = _LINE_END.search(source.text, line.end, stretch.end)
            begin = following.end() if following else stretch.end
        self._stretch(source, begin, stretch.end)

    def _add_with_holes(self, line: SourcePlace) -> None:
        """Add a line of the command line; each hole becomes a variable that is not defined."""
        source, at = line.source, line.start
        for start, end, name in self._holes:
            if at <= start and end <= line.end:
                self._weaver.add(source, at, start)
                begin = len(self._weaver)
                self._weaver.add_placeholder(f"${name}$".encode(), SourcePlace(source, start, end))
                self._weaver.use(Use(begin, len(self._weaver), name, None, "undefined"))
                at = end
        self._weaver.add(source, at, line.end)

    def _stretch(self, source: Source, start: int, end: int) -> None:
        if end > start:
            self.stretches.append(SourcePlace(source, start, end))

    def _end_line(self, line: SourcePlace) -> None:
        """Add the line's own end where it directly follows, else one that represents it."""
        source, end = line.source, line.end
        if source.text[end : end + 1] == b"\n":
            self._weaver.add(source, end, end + 1)
        else:
            self._weaver.add_placeholder(b"\n", SourcePlace(source, end, end))

    def _include(self, line: SourcePlace, depth: int) -> None:
        place = SourcePlace(line.source, line.start + len(INCLUDE), line.end)
        if b"$" in line.text:
            message = "A variable cannot name an included file. Write its path out."
            self.faults.add(TextFault("include-variable", message, place))
            return
        names = line.text[len(INCLUDE) :].decode("utf-8", "replace")
        for path in filter(None, names.split("+")):
            self._include_one(path, place, depth)

    def _include_one(self, path: str, place: SourcePlace, depth: int) -> None:
        if path in self._resolved:
            message = f"{path} was read before and is not included again."
            self.faults.add(TextFault("included-twice", message, place, name=path))
            return
        self._resolved.add(path)
        if depth >= _DEEPEST:
            message = f"{path} is included through {_DEEPEST} other files, and is not read."
            self.faults.add(TextFault("deep", message, place))
            return
        source = self._read(path, place)
        if self._is_outside(path, source):
            self.faults.add(TextFault("outside", outside(path), place))
        elif source is None:
            self.faults.add(TextFault("missing-include", _no_include(path), place))
        elif isinstance(source, Source):
            self._expand(SourcePlace(source, 0, len(source.text)), depth + 1)

    def _lines(self, stretch: SourcePlace) -> Iterator[SourcePlace]:
        """Yield the code of the lines of a part: a file's without comments, an argument's
        unchanged.
        """
        source = stretch.source
        text = source.text
        argument = source.name == COMMAND_LINE
        if not argument:
            self._find_carriage_return(stretch)
        for found in _LINE.finditer(text, stretch.start, stretch.end):
            at, end = found.span()
            if text.startswith(_MARK, at):
                at += len(_MARK)
            low, high = (0, end - at) if argument else code_span(text[at:end])
            if high > low:
                yield SourcePlace(source, at + low, at + high)

    def _find_carriage_return(self, stretch: SourcePlace) -> None:
        found = _LONE_RETURN.search(stretch.source.text, stretch.start, stretch.end)
        if found is None:
            return
        message = (
            "A line ends in a carriage return alone, which CNTK rejects. Save the file with "
            "line ends of Unix or Windows."
        )
        place = SourcePlace(stretch.source, *found.span())
        self.faults.add(TextFault("carriage-return", message, place))


def _held(item: Item, hole: Hole, at: int) -> tuple[int, int, str]:
    """Return a hole as the bytes of a text in which its item begins at an offset, and its name
    there.
    """
    start, end = (
        at + len(encodable(item.text[:place]).encode()) for place in (hole.start, hole.end)
    )
    return start, end, "script." + _NO_LETTER.sub("_", hole.name)


def _no_include(path: str) -> str:
    if path != path.strip(' \t"'):
        return (
            f"There is no file '{path}': blanks and quotes around a path are part of it. "
            "Write the path directly after 'include=', without a comment on the line."
        )
    return f"{path}: there is no such file. Paths are relative to the working directory."
