"""The surroundings of a text for languages whose texts belong together: files and the runs that use
them.  Knows no disk and no language.
"""

from __future__ import annotations

import posixpath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Protocol, TypeVar

    Counted = TypeVar("Counted")
    #: Converts the blocks of a file of data.
    Count = Callable[[Iterable[bytes]], Counted]

    class Files(Protocol):
        """The source of files: a disk, or the texts of an editor over it."""

        def read(self, path: str) -> bytes | None:
            """Return the bytes of a file, None where there is none that can be read."""

        def exists(self, path: str) -> bool:
            """Return whether there is a file or a folder of that name; reads nothing."""

        def kind(self, path: str) -> str | None:
            """Return the kind of a path: "file", "folder", "pipe"; None where nothing is visible
            there.

            Opens nothing.
            """

        def locate(self, path: str) -> str:
            """Return the canonical path of a file, however a path to it is spelt; reads nothing."""

        def outside(self, path: str) -> bool:
            """Return whether a file is unknown because it is outside of what may be read."""

        def counted(self, path: str, count: Count[Counted]) -> Counted | None:
            """Return the result of `count` for a data file; None where it may not be read."""

    class Folders(Files, Protocol):
        """Files whose folders can be looked into, which writing in an editor needs."""

        def names_in(self, folder: str) -> list[str]:
            """Return the names of the files in a folder; none where it cannot be read."""


def no_file(path: str, kind: str | None) -> str:
    """Return the sentence on a path that is not a file to read, of a kind or missing."""
    if kind is None:
        return f"{path}: there is no such file."
    if kind == "folder":
        return f"{path}: is a folder. Name a file in it."
    return f"{path}: cannot be read" + ("." if kind == "file" else f": it is a {kind}, not a file.")


def outside(path: str) -> str:
    """Return the sentence on a path outside, to follow the name of its origin."""
    return f"'{path}' lies outside the folders that are read here; {allowed_by(path)}."


def outside_to_write(path: str, folder: str | None = None) -> str:
    """Return a sentence about a path outside the roots that would be written, below an existing
    `folder`.
    """
    allowed = allowed_by(path if folder is None else f"{folder}/")
    return f"'{path}' lies outside the folders that are written here; {allowed}."


def leads_out(path: str) -> str:
    """Return the sentence on a run with a file outside, to follow the name of its start."""
    return f"{outside(path)} This run is not looked at."


def allowed_by(path: str) -> str:
    """Return a clause on how to allow reading a file outside the roots."""
    folder = posixpath.dirname(path.replace("\\", "/"))
    named = folder if folder.startswith("/") or folder[1:2] == ":" else "DIR"
    return f"'--root {named}' allows it, in an editor the setting 'netsharp.roots'"


class Hole:
    """An open part of a run's item: the item by its number, the span of its text, and the name
    of what is substituted.
    """

    __slots__ = ("end", "item", "name", "start")

    def __init__(self, item: int, start: int, end: int, name: str) -> None:
        self.item = item
        self.start = start
        self.end = end
        self.name = name

    @property
    def key(self) -> tuple[object, ...]:
        """Return a key that identifies it."""
        return self.item, self.start, self.end, self.name


class StartedAt:
    """The place where a script starts a run: its file, the line from 1, and the byte spans of the
    items or their origins.
    """

    __slots__ = ("file", "line", "spans")

    def __init__(self, file: str, line: int, spans: tuple[tuple[int, int], ...]) -> None:
        self.file = file
        self.line = line
        self.spans = spans


class Run:
    """The items of one start of a program, in order, and the folder it is started in.

    `declared`: it is known that the program is started so; else it is only assumed.  `origin`
    is where a script does; `unknown` are the script's own variables in the items without known
    values, `holes` their places.  `also` are folders that files are looked
    for in which are not in `directory`.
    """

    __slots__ = ("also", "declared", "directory", "holes", "items", "origin", "unknown")

    def __init__(
        self,
        items: tuple[str, ...],
        directory: str = ".",
        unknown: tuple[str, ...] = (),
        declared: bool = True,
        also: tuple[str, ...] = (),
        holes: tuple[Hole, ...] = (),
        origin: StartedAt | None = None,
    ) -> None:
        self.items = items
        self.directory = directory
        self.unknown = unknown
        self.declared = declared
        self.also = also
        self.holes = holes
        self.origin = origin

    @property
    def key(self) -> tuple[object, ...]:
        """Return a key that is equal for runs that do the same."""
        holes = tuple(hole.key for hole in self.holes)
        return self.items, self.directory, self.also, self.declared, holes

    def placed(self, directory: str, also: tuple[str, ...]) -> Run:
        """Return the run with its folders."""
        return self._with(self.items, directory, self.declared, also)

    def followed_by(self, assignments: tuple[str, ...]) -> Run:
        """Return the run with further ``KEY=VALUE`` after it."""
        items = (*self.items, *assignments)
        return self._with(items, self.directory, self.declared, self.also)

    def assigning(self, assignments: tuple[str, ...]) -> Run:
        """Return the run with further ``KEY=VALUE`` after it, which makes it declared."""
        if not assignments:
            return self
        items = (*self.items, *assignments)
        return self._with(items, self.directory, True, self.also)

    def _with(
        self, items: tuple[str, ...], directory: str, declared: bool, also: tuple[str, ...]
    ) -> Run:
        return Run(items, directory, self.unknown, declared, also, self.holes, self.origin)

    def __repr__(self) -> str:
        return f"Run({self.items!r}, {self.directory!r})"


class Premises:
    """The settings of every run: the names of variables `defined` elsewhere, and the `version` of
    the program, empty where none is given.
    """

    __slots__ = ("defines", "version")

    def __init__(self, defines: frozenset[str] = frozenset(), version: str = "") -> None:
        self.defines = defines
        self.version = version

    def joined(self, others: Iterable[Premises]) -> Premises:
        """Return the premises of this and others; of versions, this one's, else the first."""
        several = (self, *others)
        defines = frozenset[str]().union(*(one.defines for one in several))
        return Premises(defines, next((one.version for one in several if one.version), ""))


#: The message where there are no settings.
NO_PREMISES = Premises()


class Workspace:
    """The surroundings of one text.

    `name`: the text's key in `files`, also displayed.  `runs`: those that use the text,
    none where it is alone.  `assignments`: ``KEY=VALUE`` that come after those of every run.
    `given`: the settings of all runs.  `library`: what replaces a language's own
    library.  `known`: results computed for another text that are still valid.
    """

    __slots__ = ("assignments", "files", "given", "known", "library", "name", "runs")

    def __init__(
        self,
        name: str,
        files: Folders,
        runs: tuple[Run, ...] = (),
        assignments: tuple[str, ...] = (),
        given: Premises = NO_PREMISES,
        library: bytes | None = None,
    ) -> None:
        self.name = name
        self.files = files
        self.runs = runs
        self.assignments = assignments
        self.given = given
        self.library = library
        self.known: dict[object, Any] = {}


class GivenFiles:
    """Files that are nowhere but here, by their paths with slashes."""

    __slots__ = ("_texts",)

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self._texts = {self.locate(path): data for path, data in texts.items()}

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, None where there is none."""
        return self._texts.get(self.locate(path))

    def exists(self, path: str) -> bool:
        """Return whether there is a file of that name, or one below a folder of that name."""
        located = self.locate(path)
        return any(name == located or name.startswith(f"{located}/") for name in self._texts)

    def kind(self, path: str) -> str | None:
        """Return "file", or "folder" where there is a file below it; None where nothing is."""
        if self.locate(path) in self._texts:
            return "file"
        return "folder" if self.exists(path) else None

    def locate(self, path: str) -> str:
        """Return the path in its plainest spelling."""
        return posixpath.normpath(path.replace("\\", "/"))

    def outside(self, path: str) -> bool:
        """Return False: a file that is not here does not exist."""
        return False

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        """Return the result of `count` for a data file; None where there is none."""
        data = self.read(path)
        return None if data is None else count((data,))

    def names_in(self, folder: str) -> list[str]:
        """Return the names of the files in a folder."""
        above = self.locate(folder)
        return sorted(posixpath.basename(one) for one in self._texts if _folder(one) == above)


def _folder(path: str) -> str:
    return posixpath.dirname(path) or "."
