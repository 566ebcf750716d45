"""Both forms of a network evaluated, each by its own language, and compared.

Knows nothing of how one text came of the other.
"""

from __future__ import annotations

from typing import NamedTuple

from netsharp_lsp.cntk.networks.same import Comparison, Difference, compare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.migration.cases import Case
    from netsharp_lsp.workspace import Files

EQUAL, DIFFERENT, UNPROVEN, NONE = "equal", "different", "unproven", "none"


class Result(NamedTuple):
    """What came of one network: `status` is one of the four, `names` lead from its nodes to those
    afterwards, `note` is for people.
    """

    file: str
    command: str
    section: str | None
    status: str
    nodes: int
    differences: tuple[Difference, ...] = ()
    names: dict[str, str] = {}  # noqa: RUF012 - a row; nobody changes it
    note: str | None = None


def proven(case: Case, after: Files) -> Result:
    """Compare the network of a case with what its command builds of other files."""
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
    before, after = case.before, case.built_with(files)
    assert before is not None
    assert before.network is not None
    fault = next(iter(after.faults), None) if after is not None else None
    if after is not None and after.language != "brainscript":
        name = next(iter(before.network.nodes), "")
        return Comparison({}, (Difference(name, "language", "NDL", after.language.upper()),))
    if after is None or after.network is None or fault is not None:
        told = fault.message if fault is not None else "no network"
        place = f" ({fault.place.source})" if fault is not None else ""
        name = next(iter(before.network.nodes), "")
        return Comparison({}, (Difference(name, "evaluation", "a network", f"{told}{place}"),))
    return compare(before.network, after.network)
