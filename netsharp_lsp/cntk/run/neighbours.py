"""The configurations beside that of a run, and which of them may write a model that it reads.

Each is evaluated once, as if started in its folder; knows no network.
"""

from __future__ import annotations

import os
import posixpath
import re
from functools import cached_property
from itertools import islice

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.cntk.configuration.items import read_item
from netsharp_lsp.cntk.run.models import edits_freely, models_written
from netsharp_lsp.cntk.suffixes import STARTS
from netsharp_lsp.generics import Generic, TypeVar
from netsharp_lsp.limits import MODEL_CHAIN, MODEL_CONFIGURATIONS
from netsharp_lsp.text.remembered import Remembered
from netsharp_lsp.workspace import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.cntk.run.models import CommandRun
    from netsharp_lsp.workspace import Folders

    Running = TypeVar("Running", bound=CommandRun)
else:
    Running = TypeVar("Running")

#: Configurations of which it is kept what they write.
_KEPT = 2_000
_EPOCH = re.compile(r"\.\d+\Z")


def alone(name: str, also: tuple[str, ...] = ()) -> Run:
    """Return the assumed run of a configuration without a declared run: in its folder."""
    folder, base = os.path.split(name)
    return Run((f"configFile={base}",), folder or ".", declared=False, also=also)


class _Writes:
    """The models that a configuration writes, by canonical path; `any` where it may write more.

    `read` are the texts that determine this, which were in a `state`.
    """

    __slots__ = ("any", "models", "read", "state")

    def __init__(
        self, models: frozenset[str], any_model: bool, read: tuple[str, ...], state: int
    ) -> None:
        self.models = models
        self.any = any_model
        self.read = read
        self.state = state


#: What configurations write, by how they are run.
_WRITTEN: Remembered[_Writes] = Remembered(_KEPT)


class Neighbours(Generic[Running]):
    """The runs in one folder, around the first one.

    Each begins at most once, so that shared results are computed once; `begin` makes one that has
    the same neighbours.
    """

    def __init__(
        self, first: Running, files: Folders, begin: Callable[[Run, Neighbours[Running]], Running]
    ) -> None:
        self._first = first
        self._files = files
        self._begin = begin
        self._begun: dict[str, Running] = {}
        self._targets: list[str] = []
        self._texts: dict[str, int] = {}
        self._writing: dict[str, tuple[str, ...]] = {}

    def writing(self, path: str, reader: Running) -> Iterator[tuple[str, Running]]:
        """Yield the other runs that may write a model, each with its name for users.

        Empty while the same model is searched for: then models depend on each other.
        """
        target = reader.files.locate(path)
        if target in self._targets or len(self._targets) >= MODEL_CHAIN.most:
            return
        self._targets.append(target)
        try:
            own = {reader.files.locate(one) for one in reader.first_read}
            for place in self._writing_to(target):
                if place not in own:
                    yield posixpath.basename(place.replace(os.sep, "/")), self._run(place)
        finally:
            self._targets.pop()

    @property
    def read(self) -> set[str]:
        """Return the canonical paths of the texts read by the runs that may write a model."""
        runs = (one for one in self._begun.values() if one is not self._first)
        return {one.files.locate(path) for one in runs for path in one.files.texts}

    def _writing_to(self, target: str) -> tuple[str, ...]:
        """Return the configurations that may write a model."""
        if target not in self._writing:
            self._writing[target] = tuple(
                one for one in self._places if self._may_write(one, target)
            )
        return self._writing[target]

    @cached_property
    def _places(self) -> tuple[str, ...]:
        """Return the configurations of the folder by canonical path, the first among them."""
        begins = next(iter(self._first.first_read), None)
        if begins is None:
            return ()
        folder = os.path.dirname(self._first.files.locate(begins))
        names = (one for one in self._files.names_in(folder) if one.lower().endswith(STARTS))
        several = islice(names, MODEL_CONFIGURATIONS.most)
        return tuple(self._files.locate(os.path.join(folder, name)) for name in several)

    def _may_write(self, place: str, target: str) -> bool:
        raise_if_cancelled()
        writes = self._writes(place)
        return writes.any or target in writes.models or _EPOCH.sub("", target) in writes.models

    def _writes(self, place: str) -> _Writes:
        """Return the models that a configuration writes, computed again when a text of it has
        changed.
        """
        run = self._as_started(place)
        known = _WRITTEN.find((place, run.key))
        if known is not None and known.state == self._state(known.read):
            return known
        begun = self._run(place)
        read = tuple(begun.files.locate(one) for one in begun.first_read)
        models = frozenset(
            begun.files.locate(path) for one in begun.commands for path in models_written(one)
        )
        found = _Writes(models, any(map(edits_freely, begun.commands)), read, self._state(read))
        _WRITTEN.keep((place, run.key), found, 1)
        if not models and not found.any:
            self._begun.pop(place, None)
        return found

    def _state(self, paths: tuple[str, ...]) -> int:
        for path in paths:
            if path not in self._texts:
                self._texts[path] = hash(self._files.read(path))
        return hash(tuple(self._texts[path] for path in paths))

    def _run(self, place: str) -> Running:
        if place not in self._begun:
            own = {self._first.files.locate(one) for one in self._first.first_read}
            run = self._as_started(place)
            self._begun[place] = self._first if place in own else self._begin(run, self)
        return self._begun[place]

    def _as_started(self, place: str) -> Run:
        """Return the run that starts a configuration, with the assignments of the first run."""
        run = self._first.run
        values = (one for one in run.items if read_item(one).kind == "assignment")
        return alone(place, run.also).followed_by(tuple(values))
