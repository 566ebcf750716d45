"""The facts on disk about one specification, and the files they depend on, so they can be cached.

A run file's table is counted once for each state of the file; nothing is read here that a person
did not name in the run file.
"""

from __future__ import annotations

import os

from netsharp_lsp.context import Context
from netsharp_lsp.project.roots import ANYWHERE
from netsharp_lsp.project.run_file import (
    model_file,
    read_run_file,
    run_file_context,
    run_file_path,
    training_files,
    training_folders,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.project.run_file import Count, RunFile
    from netsharp_lsp.project.table import Columns, Counts

    #: When a file was written and how many bytes it has; None where there is none.
    State = tuple[int, int] | None


class Surroundings:
    """The context that disk gives a specification.

    `run_file` is the path of its run file where there is one, `problem` a sentence where that
    cannot be read, `tables` what it names for training, `trained` where a run keeps its model;
    `states` are the files that all this rests on as they were before reading.
    """

    __slots__ = ("context", "problem", "run_file", "states", "tables", "trained")

    def __init__(self) -> None:
        self.context = Context()
        self.run_file: str | None = None
        self.problem: str | None = None
        self.tables: list[str] = []
        self.trained: str | None = None
        self.states: dict[str, State] = {}

    @property
    def model(self) -> str | None:
        """The path of the trained model, None where there is none inside."""
        there = self.trained is not None and self.states[self.trained] is not None
        return self.trained if there else None

    @property
    def fresh(self) -> bool:
        """Return whether no file it rests on has changed since."""
        return all(state_of(path) == state for path, state in self.states.items())


class Reader:
    """Looks around specifications; a table that has not changed is not counted again.

    `count` is how a table is counted, `count_table` where none is given.
    """

    __slots__ = ("_count_table", "_counts")

    def __init__(self, count: Count | None = None) -> None:
        self._count_table = count
        self._counts: dict[tuple[object, ...], Counts | None] = {}

    def facts_around(
        self, specification: str, *, tables: bool = True, roots: Roots = ANYWHERE
    ) -> Surroundings:
        """Return the facts in the run file beside a specification, and in its `tables`."""
        found = Surroundings()
        path = run_file_path(specification)
        run_file: RunFile | str | None = None
        if path is not None:
            found.states[path] = state_of(path)
            if found.states[path] is not None:
                found.run_file = path
                run_file = read_run_file(path, roots)
        if isinstance(run_file, str):
            found.problem, run_file = run_file, None
        trained = model_file(specification, run_file)
        if roots.holds(trained):
            found.trained = os.path.normpath(trained)
            found.states[found.trained] = state_of(found.trained)
        if run_file is None:
            return found
        if tables:
            found.tables = list(map(os.path.normpath, training_files(run_file, roots)))
            others = (*found.tables, *training_folders(run_file, roots))
            found.states |= {path: state_of(path) for path in others}
        found.context = run_file_context(run_file, self._count, roots, tables=tables)
        return found

    def _count(self, path: str, columns: Columns) -> Counts | None:
        from netsharp_lsp.project.table import count_table

        key = (path, state_of(path), *columns.key)
        if key not in self._counts:
            self._counts = {k: v for k, v in self._counts.items() if k[0] != path}
            self._counts[key] = (self._count_table or count_table)(path, columns)
        return self._counts[key]


def state_of(path: str) -> State:
    """When a file was last written, in nanoseconds, and its size; None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
