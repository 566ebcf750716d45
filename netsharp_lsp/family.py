"""The interface of a family of languages for commands and server; types alone.

A family of texts has languages alone: each text stands for itself.  One whose texts belong
together answers for their runs, too.  Knows no family, no terminal and no editor.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Protocol

    from netsharp_engine.cntk.generators import Array
    from netsharp_engine.cntk.samples.given import SampleReading
    from netsharp_engine.exporting.portable import Portable
    from netsharp_engine.graph import Graph
    from netsharp_engine.limits import Limit
    from netsharp_engine.model import Model
    from netsharp_lsp.context import Context
    from netsharp_lsp.interface import Foreign, Language, Sample
    from netsharp_lsp.outcome import Outcome, PlannedTraining, TrainedOn, WrittenNetwork
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.questions import (
        Answer,
        Follower,
        Inspection,
        Lookup,
        Performance,
        PlacedRun,
        Question,
        Wanted,
    )
    from netsharp_lsp.settings import Settings
    from netsharp_lsp.text.decode import DecodeError, Source
    from netsharp_lsp.text.extent import Extent
    from netsharp_lsp.workspace import Files, Folders, Premises

    class Family(Protocol):
        """Languages that go together.  What is asked before a text is read imports little."""

        @property
        def id(self) -> str:
            """Return the word that identifies the family."""

        @property
        def title(self) -> str:
            """Return the name of its languages in a sentence."""

        @property
        def suffixes(self) -> Mapping[str, str]:
            """The id of the language of a file, by the suffix of its name in lower case.

            Every language of the family has one.
            """

        def language(self, language_id: str) -> Language:
            """Return one of its languages."""

        @property
        def largest(self) -> Limit | None:
            """Above how many bytes a file is not even decoded; None where `experiments` decide."""

        @property
        def extent(self) -> Extent:
            """Above how many words and marks a text is not parsed."""

        @property
        def looks_inside(self) -> bool:
            """Return whether suffixes are shared, so that `recognise` needs a file's text."""

        def recognise(self, name: str, data: bytes) -> str | Foreign:
            """Return the language of a file with one of the suffixes that was found by a walk."""

        def decode(self, data: bytes) -> Source | DecodeError:
            """Read the bytes of a file as text."""

        @property
        def sample(self) -> Sample | None:
            """Return a text for a server to warm up on."""

        @property
        def settings(self) -> Mapping[str, Callable[[object], object]]:
            """Return what reads the value of each key that it brings to settings, and returns what
            `Settings.of_families` keeps; ValueError, a sentence without the key, where it cannot
            be used.
            """

        def keeps_columns(self, settings: Settings) -> bool:
            """Return whether settings let a formatter keep the columns that a person aligned."""

        @property
        def training(self) -> Training | None:
            """Return its training interface; None where its texts are not trained."""

        @property
        def experiments(self) -> Experiments | None:
            """Return its interface for runs of several texts; None for independent texts."""

        @property
        def configurations(self) -> Configurations | None:
            """Return its interface for configurations; None where it has none."""

        @property
        def migrations(self) -> Migrations | None:
            """Return its interface for migrations; None where it has none."""

    class Training(Protocol):
        """The translation of a text to the engine's graph, and of trained values to a text."""

        def build_graph(self, specification: str, known: Mapping[str, Any]) -> Graph:
            """Return the engine's graph; GraphError, a sentence, where there can be none."""

        def refusal(self, specification: bytes) -> str | None:
            """Return why no network of a text's size is trained; None where one may be."""

        def output(self, specification: bytes) -> tuple[int | None, str] | None:
            """Return the nodes of the output layer, None where data decides them, and its
            activation; None where there is not one output layer.
            """

        def echo(self, specification: bytes, context: Context) -> list[str]:
            """Return the lines of a text without errors as its hosts print it before they train."""

        def with_values(
            self, specification: bytes, context: Context, values: Mapping[str, Sequence[str]]
        ) -> bytes:
            """Return a text with numbers, in decimals, as the initial values of its parameters."""

    class Experiments(Protocol):
        """Texts that belong together: runs of a program over several files."""

        @property
        def starts(self) -> tuple[str, ...]:
            """The suffixes of files that a run may begin with; such may be layered (`A+B`)."""

        @property
        def beginning(self) -> str:
            """Return the name, in a sentence, of a text that a run begins with."""

        @property
        def library(self) -> str:
            """Return the name, in a sentence, of the library that a file may replace."""

        @property
        def scripts(self) -> tuple[str, ...]:
            """Return the suffixes of files that start runs and are in no language of the family."""

        def inspect(self, request: Inspection) -> list[Outcome]:
            """Check and repair files: an outcome for each, and one for each made of `job_for`."""

        def describe(self, argument: str, request: Question) -> Answer:
            """Describe the network that an argument means: the answer's `document`."""

        def compare(self, before: str, after: str, request: Question) -> Answer:
            """Compare the networks that two arguments mean: the answer's `comparison`."""

        def perform(self, request: Performance, follower: Follower) -> Answer:
            """Run the commands of a run; the answer's code is 0 done, 1 where data or configuration
            have errors, 2 where it is impossible, 130 where `follower` stops it.
            """

        def planned_trainings(
            self, request: Performance
        ) -> tuple[Answer, Sequence[PlannedTraining]]:
            """Return the training commands of a run, without running them; the answer says why they
            cannot be known.
            """

        def sample_reading(self, request: Performance) -> SampleReading:
            """Return the reader of images that a run uses. Raises DataError where there is none."""

        def trained_on(self, path: str, label: str, request: Performance) -> TrainedOn | None:
            """Return the samples that a model of the program's was trained on, where its run is
            known, and the names of the classes of the input ``label``; raises DataError, a
            sentence, where they cannot be determined.
            """

        def opened(self, path: str) -> Model | None:
            """Return the model in a file of the program's, None where it is another's or is not
            there; ModelError where it cannot answer rows.
            """

        def numbers(self, path: str) -> Mapping[str, Array] | None:
            """Return the numbers in a model file of the program's by the names of parameters,
            None where it is another's or is not there; ModelError where it is damaged.
            """

        def portable(self, path: str, outputs: Sequence[str]) -> Portable | None:
            """Return the exportable part of such a file: the nodes that are named, else its
            outputs; None and ModelError likewise.
            """

        def network_text(self, path: str, folder: str) -> WrittenNetwork | None:
            """Return the network in such a file as text of a language of the family, its numbers in
            files of a folder that the text names so; None and ModelError likewise, ExportError
            where it cannot be written.
            """

        def is_model(self, path: str) -> bool:
            """Return whether a file is a model of the program's."""

        def with_numbers(self, path: str, arrays: Mapping[str, Array]) -> bytes | None:
            """Return the bytes of such a file with other numbers in the places of its own, None and
            ModelError likewise; ModelError where they do not fit.
            """

        def stored(self, path: str, *, partial: bool = False) -> dict[str, Any] | None:
            """Return the JSON of `describe` for such a file; None and ModelError likewise."""

        def stored_weights(self, path: str, first: int, seconds: float) -> dict[str, Any] | None:
            """Return statistics of the weights in such a file, from a place on, within a number of
            seconds: `weights`, and the place to continue at as `next`; None and ModelError
            likewise.
            """

        @property
        def text_formats(self) -> Mapping[str, str]:
            """The languages that networks of model files are written back in, by their ids, and the
            suffixes of their files.
            """

        def files(self, texts: Mapping[str, bytes], roots: Roots) -> Folders:
            """Return the files of the disk, some with other texts, by their real paths."""

        def declared(self, settings: Settings, files: Files) -> Sequence[PlacedRun]:
            """Return the runs that settings declare."""

        def given(self, settings: Settings) -> Premises:
            """Return the facts about all runs that settings give."""

        def scripted(
            self,
            folder: str,
            excludes: Callable[[str], bool],
            given: Premises,
            files: Files,
            roots: Roots,
            report: Callable[[str, str], object],
        ) -> Sequence[PlacedRun]:
            """Return the runs that scripts below a folder start; OSError where it is not read.

            `report` is called with the path of each script that is only partly read, and sentences.
            """

        def supposed(self, path: str, given: Premises, files: Files) -> PlacedRun:
            """Return the run that is supposed of a file that begins one, by its absolute path."""

    class Configurations(Protocol):
        """The values of configurations."""

        @property
        def purpose(self) -> str:
            """Return the purpose of the command, in the imperative, for its help."""

        def resolve(self, request: Lookup) -> Answer:
            """Return the values of the items."""

        def listed(
            self, folder: str, excludes: Callable[[str], bool], directory: str, roots: Roots
        ) -> Answer:
            """Return the experiments below a folder."""

    class Migrations(Protocol):
        """Carries outdated texts over."""

        @property
        def purpose(self) -> str:
            """Return the purpose of the migration, in the imperative, for the help of commands."""

        @property
        def without(self) -> str:
            """A sentence on why there is nothing to carry over, which begins in lower case."""

        def plan(self, request: Wanted) -> Migration:
            """Compute the migration of texts; writes nothing."""

    class Migration(Protocol):
        """The migration of texts: `problems` are sentences on why there is none."""

        @property
        def problems(self) -> Sequence[str]:
            """Sentences on what is missing; then there is nothing more."""

        @property
        def notices(self) -> Sequence[str]:
            """Sentences on what is not looked at: it lies outside, or passes a limit."""

        @property
        def units(self) -> Sequence[MigrationUnit]:
            """Return the units, each of which is written completely or not at all."""

        def data(self, written: Sequence[str]) -> dict[str, Any]:
            """Return the report as the JSON of `netsharp migrate`."""

        def text(self, written: Sequence[str]) -> Iterator[str]:
            """Return the report in lines."""

    class MigrationUnit(Protocol):
        """Files that are migrated together."""

        @property
        def fails(self) -> bool:
            """Return whether something differs, or cannot be done without a person."""

        @property
        def needs_person(self) -> bool:
            """Return whether something is left to a person."""

        def differences(self) -> Iterator[tuple[str, bytes, bytes]]:
            """Yield each file with its text before and after, UTF-8."""

        def changed(self) -> dict[str, bytes]:
            """Return the bytes of files that change."""

        def ordered(self, files: Iterable[str]) -> list[str]:
            """Return files in the order in which to write them."""
