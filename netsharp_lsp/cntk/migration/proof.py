"""Both forms of a network evaluated, each by its own language, and compared.

Does not know how one text was derived from the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.brainscript.reading.damage import damages
from netsharp_lsp.cntk.networks.same import Comparison, Difference, compare

if TYPE_CHECKING:
    from netsharp_lsp.cntk.migration.editing.cases import Case
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.workspace import Files

EQUAL, DIFFERENT, UNPROVEN, NONE = "equal", "different", "unproven", "none"


class Result(NamedTuple):
    """The result for one network: `status` is one of the four, `names` map its nodes' names to the
    new ones, `note` is for people.
    """

    file: str
    command: str
    section: str | None
    status: str
    nodes: int
    differences: tuple[Difference, ...] = ()
    names: dict[str, str] = {}  # noqa: RUF012 - a row; never modified
    note: str | None = None


def proven(case: Case, after: Files) -> Result:
    """Compare the network of a case with the one that its command builds from other files."""
    before = case.before
    assert before is not None
    assert before.network is not None
    file, command = case.builder.place[0], case.builder.command.name
    nodes = len(before.network.nodes)
    found = _comparison(case, after)
    status = EQUAL if found.same else DIFFERENT
    return Result(
        file, command, case.section, status, nodes, found.differences, found.names, found.note
    )


def _comparison(case: Case, files: Files) -> Comparison:
    experiment = case.experiment_with(files)
    before, after = case.before, experiment.network_of(case.builder.command.name)
    assert before is not None
    assert before.network is not None
    obstacle = _obstacle(experiment, after)
    if obstacle is not None or after is None or after.network is None:
        name = next(iter(before.network.nodes), "")
        difference = Difference(name, "evaluation", "a network", obstacle or "no network")
        return Comparison({}, (difference,))
    return compare(before.network, after.network)


def _obstacle(experiment: Experiment, after: BuiltNetwork | None) -> str | None:
    """Return why a result cannot be taken for BrainScript, None if it can."""
    if after is None:
        return None
    if after.language != "brainscript":
        return f"still one of {after.language.upper()}"
    fault = next(iter(after.faults), None)
    if fault is not None:
        return f"{fault.message} ({fault.place.source})"
    for program in experiment.programs:
        for text in program.texts if program.built is after else ():
            damage = next(iter(damages(text.data)), None)
            if damage is not None:
                place = text.place(*damage.span)
                return f"text that cannot be parsed: '{damage.text}' ({place.source})"
    return None
