"""CNTK as a family: four languages whose files belong together; the entry point for commands and
server.

Each method imports what it needs on use.
"""

from __future__ import annotations

from types import MappingProxyType

from netsharp_lsp.cntk.model_files import model_head
from netsharp_lsp.cntk.suffixes import SCRIPTS, SUFFIXES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from netsharp_engine.cntk.generators import Array
    from netsharp_engine.cntk.samples.given import SampleReading
    from netsharp_engine.exporting.portable import Portable
    from netsharp_engine.model import Model
    from netsharp_lsp.cntk.commands.runs import OverDisk, PlacedRun
    from netsharp_lsp.cntk.languages import CntkLanguage
    from netsharp_lsp.family import Migration
    from netsharp_lsp.interface import Foreign
    from netsharp_lsp.outcome import Outcome, PlannedTraining, TrainedOn, WrittenNetwork
    from netsharp_lsp.project.roots import Roots
    from netsharp_lsp.questions import (
        Answer,
        Follower,
        Inspection,
        Lookup,
        Performance,
        Question,
        Wanted,
    )
    from netsharp_lsp.settings import Settings
    from netsharp_lsp.text.decode import DecodeError, Source
    from netsharp_lsp.text.extent import Extent
    from netsharp_lsp.workspace import Files, Premises


class Experiments:
    """The requests that several runs of CNTK answer together."""

    starts = tuple(suffix for suffix, language in SUFFIXES.items() if language == "cntk")
    beginning = "a CNTK configuration"
    library = "our BrainScript library"
    scripts = SCRIPTS
    text_formats: Mapping[str, str] = MappingProxyType({"brainscript": ".bs"})

    def inspect(self, request: Inspection) -> list[Outcome]:
        """Check and repair files; see `netsharp_lsp.cntk.commands.inspection`."""
        from netsharp_lsp.cntk.commands.inspection import inspect_experiments

        return inspect_experiments(request)

    def describe(self, argument: str, request: Question) -> Answer:
        """Describe a network of a run; see `netsharp_lsp.cntk.commands.describe`."""
        from netsharp_lsp.cntk.commands.describe import describe_experiment

        return describe_experiment(argument, request)

    def compare(self, before: str, after: str, request: Question) -> Answer:
        """Compare two runs; see `netsharp_lsp.cntk.commands.compare`."""
        from netsharp_lsp.cntk.commands.compare import compare_experiments

        return compare_experiments(before, after, request)

    def perform(self, request: Performance, follower: Follower) -> Answer:
        """Train, test and write; see `netsharp_lsp.cntk.commands.training`."""
        from netsharp_lsp.cntk.commands.training import perform

        return perform(request, follower)

    def planned_trainings(self, request: Performance) -> tuple[Answer, Sequence[PlannedTraining]]:
        """Return training commands before they run; see `netsharp_lsp.cntk.commands.training`."""
        from netsharp_lsp.cntk.commands.training import planned_trainings

        return planned_trainings(request)

    def sample_reading(self, request: Performance) -> SampleReading:
        """Return a reader of images as in a run; see `netsharp_lsp.cntk.commands.training`."""
        from netsharp_lsp.cntk.commands.training import reading_of

        return reading_of(request)

    def trained_on(self, path: str, label: str, request: Performance) -> TrainedOn | None:
        """Return the data that trained a model; see `netsharp_lsp.cntk.commands.training`."""
        from netsharp_lsp.cntk.commands.training import trained_on

        return trained_on(path, label, request)

    def opened(self, path: str) -> Model | None:
        """Return a model of CNTK's for inference; see `netsharp_lsp.cntk.training.answering`."""
        from netsharp_lsp.cntk.training.answering import opened_model

        return opened_model(path)

    def numbers(self, path: str) -> Mapping[str, Array] | None:
        """Return the numbers of a model of CNTK's; see
        `netsharp_lsp.cntk.training.stored_models`.
        """
        from netsharp_lsp.cntk.training.stored_models import numbers_in

        return numbers_in(path)

    def portable(self, path: str, outputs: Sequence[str]) -> Portable | None:
        """Return the exported part of a model; see `netsharp_lsp.cntk.training.portable`."""
        if model_head(path) is None:
            return None
        from netsharp_lsp.cntk.training.portable import portable_model

        return portable_model(path, outputs)

    def network_text(self, path: str, folder: str) -> WrittenNetwork | None:
        """Return a model's network as BrainScript; see
        `netsharp_lsp.cntk.training.written_back`.
        """
        if model_head(path) is None:
            return None
        from netsharp_lsp.cntk.training.written_back import network_text_of

        return network_text_of(path, folder)

    def is_model(self, path: str) -> bool:
        """Return whether a file is a model of CNTK; see `netsharp_lsp.cntk.commands.models`."""
        if model_head(path) is None:
            return False
        from netsharp_lsp.cntk.commands.models import is_model

        return is_model(path)

    def with_numbers(self, path: str, arrays: Mapping[str, Array]) -> bytes | None:
        """Return a model with other numbers; see `netsharp_lsp.cntk.training.stored_models`."""
        from netsharp_lsp.cntk.training.stored_models import with_numbers

        return with_numbers(path, arrays)

    def stored(self, path: str, *, partial: bool = False) -> dict[str, Any] | None:
        """Return the network of a model of CNTK's; see
        `netsharp_lsp.cntk.training.model_description`.
        """
        if model_head(path) is None:
            return None
        from netsharp_lsp.cntk.training.model_description import description_of

        return description_of(path, partial=partial)

    def stored_weights(self, path: str, first: int, seconds: float) -> dict[str, Any] | None:
        """Return statistics of its numbers; see `netsharp_lsp.cntk.training.model_description`."""
        if model_head(path) is None:
            return None
        from netsharp_lsp.cntk.training.model_description import weights_of

        return weights_of(path, first, seconds)

    def files(self, texts: Mapping[str, bytes], roots: Roots) -> OverDisk:
        """Return the files of the disk, some with other texts."""
        from netsharp_lsp.cntk.commands.runs import OverDisk

        return OverDisk(texts, roots)

    def declared(self, settings: Settings, files: Files) -> Sequence[PlacedRun]:
        """Return the runs that settings declare."""
        from netsharp_lsp.cntk.commands.runs import declared_runs

        return declared_runs(settings, files)

    def given(self, settings: Settings) -> Premises:
        """Return the settings for all runs."""
        from netsharp_lsp.cntk.commands.settings import declared_in

        return declared_in(settings).given

    def scripted(
        self,
        folder: str,
        excludes: Callable[[str], bool],
        given: Premises,
        files: Files,
        roots: Roots,
        report: Callable[[str, str], object],
    ) -> Sequence[PlacedRun]:
        """Return the runs that scripts below a folder start."""
        from netsharp_lsp.cntk.commands.runs import scripted_runs

        return scripted_runs(folder, excludes, given, files, roots, report)

    def supposed(self, path: str, given: Premises, files: Files) -> PlacedRun:
        """Return the assumed run of a configuration."""
        from netsharp_lsp.cntk.commands.runs import supposed_run

        return supposed_run(path, given, files)


class Configurations:
    """The evaluation of configurations."""

    purpose = "show what a CNTK configuration evaluates to"

    def resolve(self, request: Lookup) -> Answer:
        """Return the values of items; see `netsharp_lsp.cntk.commands.configuration`."""
        from netsharp_lsp.cntk.commands.configuration import resolve

        return resolve(request)

    def listed(
        self, folder: str, excludes: Callable[[str], bool], directory: str, roots: Roots
    ) -> Answer:
        """Return the experiments below a folder; see `netsharp_lsp.cntk.commands.listing`."""
        from netsharp_lsp.cntk.commands.configuration import listed

        return listed(folder, excludes, directory, roots)


class Migrations:
    """The migration of NDL to BrainScript."""

    purpose = "migrate NDL networks to equivalent BrainScript"
    without = "none of the named configurations builds a network of NDL."

    def plan(self, request: Wanted) -> Migration:
        """Return the migration of texts; see `netsharp_lsp.cntk.commands.migration`."""
        from netsharp_lsp.cntk.commands.migration import planned_migration

        return planned_migration(request)


def _read_declared(value: object) -> object:
    from netsharp_lsp.cntk.commands.settings import read_declared

    return read_declared(value)


class CntkFamily:
    """BrainScript, NDL, model edits and the configurations that join them."""

    id = "cntk"
    title = "the languages of CNTK"
    suffixes = SUFFIXES
    looks_inside = True
    largest = None
    sample = None
    training = None
    experiments = Experiments()
    configurations = Configurations()
    migrations = Migrations()

    @property
    def extent(self) -> Extent:
        """Return the number of words and marks above which a text is not parsed."""
        from netsharp_lsp.text.extent import CONFIGURATION

        return CONFIGURATION

    @property
    def settings(self) -> Mapping[str, Callable[[object], object]]:
        """Return the readers of the settings about configurations."""
        return {"cntk": _read_declared}

    def keeps_columns(self, settings: Settings) -> bool:
        """Return whether columns are kept: true, unless the settings differ."""
        if not settings.of_families:
            return True
        from netsharp_lsp.cntk.commands.settings import declared_in

        return declared_in(settings).keep_columns

    def language(self, language_id: str) -> CntkLanguage:
        """Return one of the four languages."""
        from netsharp_lsp.cntk.languages import BY_ID

        return BY_ID[language_id]

    def recognise(self, name: str, data: bytes) -> str | Foreign:
        """Return the language of a file; other tools share some suffixes, so the text decides."""
        from netsharp_lsp.cntk.recognition import language_of

        return language_of(name, data)

    def decode(self, data: bytes) -> Source | DecodeError:
        """Decode text as UTF-8, else as Windows-1252; bytes with a NUL are not a text."""
        from netsharp_lsp.text.decode import WINDOWS_1252, DecodeError, decode_legacy

        decoded = decode_legacy(data)
        if b"\0" not in decoded.text:
            return decoded
        from netsharp_lsp.cntk.configuration.sources import why_binary

        counted = data if decoded.encoding == WINDOWS_1252 else decoded.text
        return DecodeError(counted.index(0), why_binary(counted) or "")


FAMILY = CntkFamily()
