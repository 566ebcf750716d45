"""Builds the network of a command by whatever builder it has; knows no builder's inside.

Whatever text a network was evaluated from, its places name files as users see them. A builder is
imported where a block needs it: most runs have one.
"""

from __future__ import annotations

from functools import cached_property

from netsharp_lsp.cntk.brainscript.evaluation.program import Surroundings, evaluate_file
from netsharp_lsp.cntk.brainscript.evaluation.remembered import outcome_of
from netsharp_lsp.cntk.configuration.sources import read_text
from netsharp_lsp.cntk.library import other_library, own_library
from netsharp_lsp.cntk.networks.faults import BuildingFault, Outcome, Place
from netsharp_lsp.cntk.run.texts import INLINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.cntk.brainscript.evaluation.evaluator import Model
    from netsharp_lsp.cntk.configuration.meaning.commands import Command
    from netsharp_lsp.cntk.configuration.meaning.configuration import Configuration
    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.ndl.containers import Program
    from netsharp_lsp.cntk.ndl.evaluation import Part
    from netsharp_lsp.cntk.networks.node import Network
    from netsharp_lsp.cntk.run.files import RunFiles

#: What the original calls the library that is read in place of ours.
OTHER_LIBRARY = "cntk.core.bs"


class BuiltNetwork:
    """The result of a builder: `language` is "brainscript", "ndl" or "simple".

    `builder` is the key of the builder as it is spelt, `place` that of its value; both are empty
    for a file without a configuration. `text` is an inline text of BrainScript as it was evaluated,
    `parts` are the scripts of NDL. Completion and semantic tokens need no network, so one of NDL,
    whose scripts are known before, is evaluated on first use.
    """

    __slots__ = (
        "_evaluate",
        "_outcome",
        "builder",
        "command",
        "found",
        "language",
        "parts",
        "place",
        "text",
    )

    def __init__(
        self,
        command: str,
        builder: str,
        language: str,
        place: Place,
        evaluate: Callable[[], Outcome],
        *,
        found: Found | None = None,
        parts: tuple[Part, ...] = (),
    ) -> None:
        self.command = command
        self.builder = builder
        self.language = language
        self.place = place
        self._evaluate = evaluate
        self._outcome: Outcome | None = None
        self.found = found
        self.text: Traced | None = (
            found.text if found is not None and language == "brainscript" else None
        )
        self.parts = parts

    @property
    def is_evaluated(self) -> bool:
        """Return whether its network is known already."""
        return self._outcome is not None

    @property
    def network(self) -> Network | None:
        """The network; None where there is none."""
        return self._known.network

    @property
    def faults(self) -> tuple[BuildingFault, ...]:
        """Return the faults found while it was built."""
        return self._known.faults

    @property
    def _known(self) -> Outcome:
        if self._outcome is None:
            self._outcome = self._evaluate()
        return self._outcome

    @property
    def why_not(self) -> str:
        """Return a sentence on why there is no network."""
        if self.faults:
            return self.faults[0].message
        uses = self.found.text.uses if self.found is not None else ()
        names = list(dict.fromkeys(use.name for use in uses if use.problem is not None))
        if not names:
            return "it is the contents of a saved model."
        named = " and ".join(f"'{name}'" for name in names)
        given = " ".join(f"--set {name}=..." for name in names)
        lacking = "variable {} has" if len(names) == 1 else "variables {} have"
        return f"the {lacking.format(named)} no value. Give one with {given}"


class Builders:
    """The builders of a run and their surroundings; a builder that several commands share is
    evaluated once. `library` replaces ours; `is_later` returns whether ours is that of release 2.0
    and later.
    """

    def __init__(
        self,
        files: RunFiles,
        library: bytes | None,
        configuration: Configuration,
        is_later: Callable[[], bool],
    ) -> None:
        self._files = files
        self._library = library
        self._is_later = is_later
        self._configuration = configuration
        #: What texts of BrainScript gave, by where they stand and what they are.
        self._evaluated: dict[object, Outcome] = {}

    @cached_property
    def surroundings(self) -> Surroundings:
        """Return the surroundings in which a network of BrainScript is evaluated."""
        if self._library is not None or not self._is_later():
            return self.first_surroundings
        return self.first_surroundings._replace(library=own_library(later=True))

    @cached_property
    def first_surroundings(self) -> Surroundings:
        """Return the same with the library of the first release, or with the one that is given."""
        if self._library is None:
            library = own_library()
        else:
            library = other_library(self._library, OTHER_LIBRARY)
        sources = self._configuration.layers.sources
        folders = dict.fromkeys(source.name.rpartition("/")[0] for source in sources)
        precision = self._configuration.root.option(b"precision", "float")
        return Surroundings(
            self._files.read,
            library,
            tuple(folders),
            self._files.outside,
            precision,
            measure=self._files.matrix,
        )

    def build(self, command: Command, model: Model) -> BuiltNetwork:
        """Return the network of a command that has a builder; `model` returns the networks of
        models.
        """
        found, scope = command.builder, command.scope
        assert found is not None
        assert scope is not None
        key = found.entry.key.decode("utf-8", "replace")
        language = builder_language(key)
        parts: tuple[Part, ...] = ()
        if language == "simple":
            from netsharp_lsp.cntk.simple.program import evaluate_builder

            evaluate = _given(evaluate_builder(found, scope))
        elif language == "ndl":
            from netsharp_lsp.cntk.ndl.containers import program_of_builder

            evaluate, parts = self._from_ndl(program_of_builder(found, scope, self._files))
        else:
            evaluate = _given(self._from_brainscript(found.text, model))
        at = found.text.place(0, len(found.text))
        place = Place(at.source.name, at.start, at.end)
        return BuiltNetwork(command.name, key, language, place, evaluate, found=found, parts=parts)

    def build_file(self, name: str, language: str, data: bytes) -> BuiltNetwork:
        """Return the network of a file without a configuration."""
        source = read_text(name, data)
        place = Place(name, 0, 0)
        parts: tuple[Part, ...] = ()
        if isinstance(source, str):
            evaluate = _given(Outcome(None, (BuildingFault("unreadable", source, place),)))
        elif language == "brainscript":
            evaluate = _given(evaluate_file(source.text, name, self.surroundings))
        else:
            from netsharp_lsp.cntk.ndl.containers import program_of_file

            evaluate, parts = self._from_ndl(program_of_file(source))
        return BuiltNetwork("", "", language, place, evaluate, parts=parts)

    def _from_ndl(self, program: Program) -> tuple[Callable[[], Outcome], tuple[Part, ...]]:
        from netsharp_lsp.cntk.ndl.program import evaluate_program

        measure, is_later = self._files.matrix, self._is_later
        parts = program.parts + program.candidates
        return lambda: evaluate_program(program, measure, later=is_later()), parts

    def _from_brainscript(self, text: Traced, model: Model) -> Outcome:
        key = (text.place(0, len(text)).key, text.text)
        if key in self._evaluated:
            return self._evaluated[key]
        looked_up: list[str] = []

        def look_up(path: str) -> Network | str | None:
            looked_up.append(path)
            return model(path)

        around = self.surroundings._replace(model=look_up)
        outcome = outcome_of(text.text, INLINE, around, lambda place: _outside(place, text))
        # Commands may share an outer builder, but not what they find in models.
        if not looked_up:
            self._evaluated[key] = outcome
        return outcome


def _given(outcome: Outcome) -> Callable[[], Outcome]:
    """Return a known outcome as a function for later evaluation."""
    return lambda: outcome


def _outside(place: Place, text: Traced) -> Place:
    """Return the place in its file of a part of the inline text; other places are unchanged."""
    if place.source != INLINE:
        return place
    found = text.place(place.start, place.end)
    return Place(found.source.name, found.start, found.end)


def builder_language(key: str) -> str:
    """Return the language of a builder's value, by its key."""
    return LANGUAGES.get(key.lower(), "brainscript")


#: Which language each builder's value is in, by its key in lower case.
LANGUAGES = {
    "brainscriptnetworkbuilder": "brainscript",
    "experimentalnetworkbuilder": "brainscript",
    "ndlnetworkbuilder": "ndl",
    "simplenetworkbuilder": "simple",
}
