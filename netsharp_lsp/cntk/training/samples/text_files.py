"""A file in CNTK's text format, as the block of its reader describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.samples.minibatches import Sweeps
from netsharp_engine.cntk.samples.text_format import (
    DEFAULTS,
    TextOptions,
    read_text,
    survey_text,
)
from netsharp_engine.cntk.samples.text_lines import TextStream
from netsharp_engine.cntk.samples.truncated import Truncated
from netsharp_lsp.cntk.configuration.scope import Found
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of
from netsharp_lsp.workspace import outside

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from netsharp_engine.cntk.samples.faults import DataSurvey
    from netsharp_engine.cntk.samples.text_format import Sequences
    from netsharp_engine.cntk.samples.truncated import Cut
    from netsharp_lsp.cntk.networks.node import Where
    from netsharp_lsp.cntk.run.files import RunFiles


class TextFile(NamedTuple):
    """The streams of a file, and the options to read it."""

    path: str
    where: Where
    streams: tuple[TextStream, ...]
    options: TextOptions
    #: The number of samples that are shuffled together; None for all, 0 for none.
    window: int | None

    @property
    def sizes(self) -> Mapping[str, int]:
        """The numbers of a sample, by stream."""
        return {stream.name: stream.dim for stream in self.streams}

    @property
    def files(self) -> tuple[TextFile]:
        """The file itself."""
        return (self,)

    @property
    def most_errors(self) -> int:
        """Return the number of errors that are skipped."""
        return self.options.most_errors

    @property
    def key(self) -> object:
        """Return a key that is equal for equal reads."""
        return self.path, self.streams, self.options

    def read(self, dtype: str) -> Sequences:
        """Return its samples; DataError where it cannot be used."""
        return read_text(self.path, self.streams, dtype, self.options)

    def survey(self) -> DataSurvey:
        """Return all its faults; DataError where it cannot be read."""
        return survey_text(self.path, self.streams, self.options)

    def sweeps(self, sequences: Sequences, randomize: bool, cut: Cut | None) -> Sweeps:
        """Return its samples in CNTK's order."""
        shuffled = randomize and self.window != 0
        if cut is None:
            return Sweeps(sequences, shuffled, self.window)
        return Truncated(sequences, shuffled, self.window, cut, self.sizes)


def text_file(options: Options, files: RunFiles) -> TextFile:
    """Return the file of a reader of CNTK's text format."""
    return TextFile(
        *located(options, files),
        tuple(_streams(options)),
        TextOptions(
            options.truth("skipSequenceIds", False),
            options.whole("maxErrors", 0),
            options.whole("chunkSizeInBytes", DEFAULTS.chunk),
            options.truth("frameMode", False),
        ),
        _window(options),
    )


def _window(options: Options) -> int | None:
    if options.found("randomizationWindow") is None:
        return None
    found = options.whole("randomizationWindow", 0)
    if found < 0:
        where = where_of(options.scope.text)
        raise Refused(RunRefusal("'randomizationWindow' must not be negative.", where))
    return found


def located(options: Options, files: RunFiles, name: str = "file") -> tuple[str, Where]:
    """Return the path of a file that a block names, and the place that names it; Refused where it
    may not be read.
    """
    path = options.required_path(name, "reader")
    found = options.found(name)
    where = where_of(options.scope.text if found is None else found.text)
    if files.outside(path):
        raise Refused(RunRefusal(outside(path), where))
    return files.locate(path), where


def _streams(outer: Options) -> Iterable[TextStream]:
    scope, where = outer.scope, where_of(outer.scope.text)
    found = scope.look_up(b"input", climb=False)
    sections = [] if found is None else list(scope.inside(found))
    if found is None or not sections:
        raise Refused(RunRefusal("the reader has no 'input' that names its streams.", where))
    inner = scope.inside(found)
    aliases: set[str] = set()
    for entry in sections:
        name = entry.key.decode("utf-8", "replace")
        options = Options(inner.inside(Found(entry, inner, inner.resolved(entry))))
        kind = options.required("format", name)
        if kind.lower() not in ("dense", "sparse"):
            raise Refused(RunRefusal(f"'format' of '{name}' is neither dense nor sparse.", where))
        options.required("dim", name)
        dim = options.whole("dim", 0)
        if dim < 1:
            raise Refused(RunRefusal(f"'dim' of '{name}' has to be 1 or more.", where))
        alias = options.text("alias", name)
        if not alias or alias in aliases:
            reason = f"the alias '{alias}' is already used by another stream."
            raise Refused(
                RunRefusal(reason if alias else f"the alias of '{name}' is empty.", where)
            )
        aliases.add(alias)
        yield TextStream(name, alias, dim, kind.lower() == "sparse")
