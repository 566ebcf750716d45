"""What lies around a text for languages whose texts belong together: files and the runs that use
them.  Knows no disk and no language.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Files(Protocol):
        """Where files come from: a disk, or the texts of an editor over it."""

        def read(self, path: str) -> bytes | None:
            """Return the bytes of a file, None where there is none that can be read."""

        def exists(self, path: str) -> bool:
            """Whether there is a file or a folder of that name; reads nothing."""


class Run:
    """The items of one start of a program, in order, and the folder it is started in.

    `declared`: somebody said that the program is started so; else it is only supposed.  `line` is
    that of a script, from 1; `unknown` are the script's own variables in the items whose values
    the script does not say.
    """

    __slots__ = ("declared", "directory", "items", "line", "unknown")

    def __init__(
        self,
        items: tuple[str, ...],
        directory: str = ".",
        line: int | None = None,
        unknown: tuple[str, ...] = (),
        declared: bool = True,
    ) -> None:
        self.items = items
        self.directory = directory
        self.line = line
        self.unknown = unknown
        self.declared = declared

    def __repr__(self) -> str:
        return f"Run({self.items!r}, {self.directory!r})"


class Workspace:
    """What lies around one text.

    `name`: what `files` knows the text by, and what people see.  `runs`: those that use the text,
    none where it stands alone.  `assignments`: ``KEY=VALUE`` that come after those of every run.
    `defines`: names of variables that somebody else defines.  `library`: what is read in place of
    a language's own library.  `known`: what was worked out for another text and still holds.
    """

    __slots__ = ("assignments", "defines", "files", "known", "library", "name", "runs")

    def __init__(
        self,
        name: str,
        files: Files,
        runs: tuple[Run, ...] = (),
        assignments: tuple[str, ...] = (),
        defines: frozenset[str] = frozenset(),
        library: bytes | None = None,
    ) -> None:
        self.name = name
        self.files = files
        self.runs = runs
        self.assignments = assignments
        self.defines = defines
        self.library = library
        self.known: dict[object, Any] = {}
