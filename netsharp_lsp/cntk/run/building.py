"""Builds the network of a command by whatever builder it has; knows no builder's inside.

Whatever text a network was evaluated from, its places name files as people see them.
"""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.evaluation.program import Surroundings, evaluate_file
from netsharp_lsp.cntk.brainscript.evaluation.remembered import outcome_of
from netsharp_lsp.cntk.configuration.sources import read_text
from netsharp_lsp.cntk.library import other_library, own_library
from netsharp_lsp.cntk.ndl.containers import program_of_builder, program_of_file
from netsharp_lsp.cntk.ndl.program import evaluate_program
from netsharp_lsp.cntk.networks.faults import Fault, Outcome, Place
from netsharp_lsp.cntk.run.texts import INLINE
from netsharp_lsp.cntk.simple.program import evaluate_builder as evaluate_simple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.commands import Command
    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.ndl.evaluation import Part
    from netsharp_lsp.cntk.networks.node import Network
    from netsharp_lsp.cntk.run.experiment import Experiment

    #: An outcome, and the scripts of NDL behind it.
    _Built = tuple[Outcome, tuple[Part, ...]]

#: What the original calls the library that is read in place of ours.
OTHER_LIBRARY = "cntk.core.bs"


class BuiltNetwork:
    """What a builder gave: `language` is "brainscript", "ndl" or "simple".

    `builder` is the key of the builder as it is spelt, `place` that of its value; both are empty
    for a file of its own.  `text` is an inline text of BrainScript as it was evaluated, `parts`
    are the scripts of NDL.
    """

    __slots__ = (
        "builder",
        "command",
        "faults",
        "found",
        "language",
        "network",
        "parts",
        "place",
        "text",
    )

    def __init__(
        self, command: str, builder: str, language: str, place: Place, outcome: Outcome
    ) -> None:
        self.command = command
        self.builder = builder
        self.language = language
        self.place = place
        self.network: Network | None = outcome.network
        self.faults: tuple[Fault, ...] = outcome.faults
        self.found: Found | None = None
        self.text: Traced | None = None
        self.parts: tuple[Part, ...] = ()

    @property
    def why_not(self) -> str:
        """A sentence on why there is no network."""
        if self.faults:
            return self.faults[0].message
        uses = self.found.text.uses if self.found is not None else ()
        names = list(dict.fromkeys(use.name for use in uses if use.problem is not None))
        if not names:
            return "it is what a saved model holds."
        named = " and ".join(f"'{name}'" for name in names)
        given = " ".join(f"--set {name}=..." for name in names)
        lacking = "variable {} has" if len(names) == 1 else "variables {} have"
        return f"the {lacking.format(named)} no value. Give one with {given}"


def build(command: Command, experiment: Experiment) -> BuiltNetwork:
    """The network of a command that has a builder."""
    found = command.builder
    assert found is not None
    key = found.entry.key.decode("utf-8", "replace")
    lowered = key.lower()
    language = LANGUAGES.get(lowered, "brainscript")
    outcome, parts = _BUILDERS[language](found, command, experiment)
    place = found.text.place(0, len(found.text))
    built = BuiltNetwork(
        command.name, key, language, Place(place.source.name, place.start, place.end), outcome
    )
    built.found = found
    built.text = found.text if language == "brainscript" else None
    built.parts = parts
    return built


def build_file(name: str, language: str, data: bytes, experiment: Experiment) -> BuiltNetwork:
    """The network of a file of its own."""
    source = read_text(name, data)
    place = Place(name, 0, 0)
    parts: tuple[Part, ...] = ()
    if isinstance(source, str):
        outcome = Outcome(None, (Fault("unreadable", source, place),))
    elif language == "brainscript":
        outcome = evaluate_file(source.text, name, surroundings(experiment))
    else:
        program = program_of_file(source)
        outcome, parts = evaluate_program(program), program.parts + program.candidates
    built = BuiltNetwork("", "", language, place, outcome)
    built.parts = parts
    return built


def surroundings(experiment: Experiment) -> Surroundings:
    """What a network of BrainScript is evaluated in."""
    if experiment.library is None:
        library = own_library()
    else:
        library = other_library(experiment.library, OTHER_LIBRARY)
    sources = experiment.configuration.layers.sources
    folders = dict.fromkeys(source.name.rpartition("/")[0] for source in sources)
    root = experiment.configuration.root
    return Surroundings(
        experiment.files.read,
        library,
        tuple(folders),
        experiment.files.outside,
        root.option(b"precision", "float"),
    )


def _from_brainscript(found: Found, command: Command, experiment: Experiment) -> _Built:
    text = found.text
    key = (text.place(0, len(text)).key, text.text)
    if key not in experiment.evaluated:
        # Commands may share a builder that stands further out.
        experiment.evaluated[key] = _evaluated(text, experiment)
    return experiment.evaluated[key], ()


def _evaluated(text: Traced, experiment: Experiment) -> Outcome:
    outcome = outcome_of(text.text, INLINE, surroundings(experiment))
    faults = tuple(
        Fault(one.kind, one.message, _outside(one.place, text), _calls(one, text))
        for one in outcome.faults
    )
    if outcome.network is not None:
        for node in outcome.network.nodes.values():
            node.where = _outside(Place(*node.where), text)
    return Outcome(outcome.network, faults)


def _calls(fault: Fault, text: Traced) -> tuple[Place, ...]:
    return tuple(_outside(place, text) for place in fault.calls)


def _outside(place: Place, text: Traced) -> Place:
    """Where something of the inline text stands in its file; other places stay."""
    if place.source != INLINE:
        return place
    found = text.place(place.start, place.end)
    return Place(found.source.name, found.start, found.end)


def _from_ndl(found: Found, command: Command, experiment: Experiment) -> _Built:
    assert command.scope is not None
    program = program_of_builder(found, command.scope, experiment.files)
    return evaluate_program(program), program.parts + program.candidates


def _from_options(found: Found, command: Command, experiment: Experiment) -> _Built:
    assert command.scope is not None
    return evaluate_simple(found, command.scope), ()


#: Which language each builder's value is in, by its key in lower case.
LANGUAGES = {
    "brainscriptnetworkbuilder": "brainscript",
    "experimentalnetworkbuilder": "brainscript",
    "ndlnetworkbuilder": "ndl",
    "simplenetworkbuilder": "simple",
}
_BUILDERS = {
    "brainscript": _from_brainscript,
    "ndl": _from_ndl,
    "simple": _from_options,
}
