"""Names of nodes that an experiment uses: changed where they are certainly names, listed for a
person where they may be.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.migration.editing.edits import Edit, Todo

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cntk.configuration.meaning.tree import Value
    from netsharp_lsp.cntk.migration.proof import Result
    from netsharp_lsp.cntk.run.experiment import Experiment

_CODE = "MG45"
#: Keys whose values are names of nodes.
_KEYS = re.compile(
    rb"(?:output|eval|trainCriterion|evalCriterion|criterion|feature|label)?NodeNames?"
    rb"|traceNodeNames\w*|trainCriterionNodeName|evalCriterionNodeName|nodeNameRegex",
    re.IGNORECASE,
)
_READERS = re.compile(r"reader|\binput\b", re.IGNORECASE)


class Renaming(NamedTuple):
    """The new names, the edits that write them, and what a person has to check."""

    renames: dict[str, str]
    edits: list[Edit]
    todo: list[Todo]


def renaming(experiments: Sequence[Experiment], networks: Sequence[Result]) -> Renaming:
    """Return the renaming of the nodes that some experiments name."""
    renames, ambiguous = _renames(networks)
    # CNTK finds a node by its name, case-insensitively.
    renamed = {name.lower(): after for name, after in renames.items()}
    unsure = {name.lower() for name in ambiguous}
    edits: dict[Edit, None] = {}
    todo: dict[Todo, None] = {}
    for experiment in experiments:
        for found in _uses(experiment, renamed, unsure):
            if isinstance(found, Edit):
                edits[found] = None
            else:
                todo[found] = None
        todo.update(dict.fromkeys(_in_edits(experiment, renames)))
    return Renaming(renames, list(edits), list(todo))


def _renames(networks: Sequence[Result]) -> tuple[dict[str, str], set[str]]:
    """Return the names that change, and those that get different names in different networks."""
    found: dict[str, set[str]] = {}
    for network in networks:
        for before, after in network.names.items():
            found.setdefault(before, set()).add(after)
    changed = {name: others for name, others in found.items() if others != {name}}
    ambiguous = {name for name, others in changed.items() if len(others) > 1}
    renames = {name: min(others) for name, others in changed.items() if name not in ambiguous}
    return renames, ambiguous


def _uses(
    experiment: Experiment, renames: dict[str, str], ambiguous: set[str]
) -> Iterator[Edit | Todo]:
    for value in experiment.configuration.values():
        if _KEYS.fullmatch(value.entry.key):
            yield from _in_value(experiment, value, renames, ambiguous)
        elif _READERS.search(value.path.rpartition(".")[0]):
            yield from _stream(experiment, value, renames)


def _in_value(
    experiment: Experiment, value: Value, renames: dict[str, str], ambiguous: set[str]
) -> Iterator[Edit | Todo]:
    for element in elements(value.found.text, repeats=False) or ():
        name = element.text.decode("utf-8", "replace")
        place = element.place(0, len(element))
        where = (experiment.files.locate(place.source.name), place.start, place.end)
        after = renames.get(name.lower())
        if "*" in name or name.lower() in ambiguous:
            message = f"Check that '{name}' still means the same nodes: names have changed."
            if ambiguous or renames:
                yield Todo(_CODE, *where, message)
        elif after is not None and place.text == element.text:
            yield Edit(_CODE, *where, after)
        elif after is not None:
            message = f"A variable has the value '{name}' here, which is now called '{after}'."
            yield Todo(_CODE, *where, message)


def _stream(experiment: Experiment, value: Value, renames: dict[str, str]) -> Iterator[Edit]:
    """Yield edits that rename a reader's stream with the name of an input."""
    name = value.entry.key.decode("utf-8", "replace")
    after = renames.get(name.lower())
    if value.kind == "block" and after is not None:
        for part in value.entry.assignments:
            place = part.key
            where = (experiment.files.locate(place.source.name), place.start, place.end)
            yield Edit(_CODE, *where, after)


def _in_edits(experiment: Experiment, renames: dict[str, str]) -> Iterator[Todo]:
    """Yield uses in model editing, which is not changed."""
    for text in experiment.texts("mel"):
        for name, after in renames.items():
            pattern = rb"(?<![\w.])" + re.escape(name.encode()) + rb"(?![\w])"
            for found in re.finditer(pattern, text.data, re.IGNORECASE):
                place = text.place(*found.span())
                file = experiment.files.locate(place.source)
                used = found.group().decode()
                message = f"Model editing uses '{used}', which is called '{after}' in new models."
                yield Todo(_CODE, file, place.start, place.end, message)
