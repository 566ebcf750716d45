"""The specification of a script that a run means, and the call there that trains it.

Imported for hosts alone; reads only the files that calls name.
"""

from __future__ import annotations

from netsharp_lsp.cli.inputs.embedded import (
    Embedded,
    nothing_in,
    one_specification,
    specifications_in,
)
from netsharp_lsp.cli.inputs.files import Input
from netsharp_lsp.cli.inputs.scripts import read_script
from netsharp_lsp.cli.specifications.calls import Trainee
from netsharp_lsp.diagnostics.nearest import suggestion
from netsharp_lsp.embedded.hosts import SEPARATOR
from netsharp_lsp.project.roots import ANYWHERE
from netsharp_lsp.text.lines import LineIndex
from netsharp_lsp.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.cli.inputs.scripts import ReadScript
    from netsharp_lsp.embedded.regions import Region
    from netsharp_lsp.importing.translation import ImportedCall
    from netsharp_lsp.project.roots import Roots


#: The arguments without which no network is known.
_OF_NETWORK = ("netDefinition", "numHiddenNodes")


class _Candidate:
    """A specification of a script with a call that trains it, or one of both alone."""

    __slots__ = ("call", "name", "region")

    def __init__(self, region: Region | None, call: ImportedCall | None, name: str | None) -> None:
        self.region = region
        self.call = call
        self.name = name

    def bears(self, part: str) -> bool:
        return part == self.name or (self.region is not None and part == self.region.name)

    def is_at(self, line: int, lines: LineIndex) -> bool:
        if self.call is not None and self.call.line == line:
            return True
        if self.region is None:
            return False
        first, last = (lines.line_at(one) + 1 for one in (self.region.start, self.region.end))
        return first <= line <= last

    def same_run(self, other: _Candidate) -> bool:
        """Return whether both train the same with the same settings."""
        return self.region is other.region and _settings(self.call) == _settings(other.call)


def trainee_in(item: Input, text: bytes, roots: Roots = ANYWHERE) -> Trainee | str:
    """Return the specification of a host that an argument names, with the call that trains it.

    Or a sentence that asks for one, or says why there is none.
    """
    whole = Input(item.name, item.path)
    regions = specifications_in(whole, text)
    script = read_script(item, text, roots)
    if isinstance(script, str) or isinstance(regions, str) or not script.calls:
        region = one_specification(item, text)
        if isinstance(region, str):
            return region
        return Trainee(item.name, region.text, Embedded(item.name, region, LineIndex(text)), None)
    lines = LineIndex(text)
    candidates = _candidates(regions, script)
    meant = _meant(candidates, item.part, lines)
    shown = ", ".join(dict.fromkeys(_argument(one, candidates, item, lines) for one in candidates))
    if not meant:
        if item.part is None:
            return nothing_in(item, text)
        hint = suggestion(item.part, [one.name for one in candidates if one.name is not None])
        return (
            f"{item.name}: holds no specification or call '{item.part}'."
            f"{hint or f' There is {shown}.'}"
        )
    if not all(one.same_run(meant[0]) for one in meant):
        return f"{item.name}: {len(meant)} calls are meant. Choose one. There is {shown}."
    return _trainee(meant[0], item, lines)


def _candidates(regions: Sequence[Region], script: ReadScript) -> list[_Candidate]:
    """Return each call with the specifications that it trains, and those that no call trains."""
    found = []
    trained = set()
    for name, call in zip(script.names, script.calls, strict=True):
        own = [] if call.net is None or call.own_net else _of_text(regions, call.net)
        trained |= {id(one) for one in _of_text(regions, call.no_net or "")}
        trained |= {id(one) for one in own}
        found.append(_Candidate(own[0] if own else None, call, name))
    found += [_Candidate(one, None, one.name) for one in regions if id(one) not in trained]
    return found


def _of_text(regions: Sequence[Region], net: str) -> list[Region]:
    return [one for one in regions if one.text.strip() == net.encode().strip()]


def _meant(
    candidates: Sequence[_Candidate], part: str | None, lines: LineIndex
) -> Sequence[_Candidate]:
    if part is None:
        return candidates
    number = whole_number(part)
    if number is not None:
        return [one for one in candidates if one.is_at(number, lines)]
    return [one for one in candidates if one.name == part and one.call is not None] or [
        one for one in candidates if one.bears(part)
    ]


def _settings(call: ImportedCall | None) -> object:
    return None if call is None else [(one.key, one.value) for one in call.settings]


def _argument(
    one: _Candidate, candidates: Sequence[_Candidate], item: Input, lines: LineIndex
) -> str:
    """Return the argument for one candidate, by the specification's name where it has one."""
    own = one.region.name if one.region is not None else None
    alone = own is not None and sum(other.bears(own) for other in candidates) == 1
    name: object = own if alone else one.name
    if name is None and one.region is not None:
        name = lines.line_at(one.region.start) + 1
    return f"{item.name}{SEPARATOR}{name}"


def _trainee(one: _Candidate, item: Input, lines: LineIndex) -> Trainee | str:
    if one.region is not None:
        embedded = Embedded(item.name, one.region, lines)
        return Trainee(item.name, one.region.text, embedded, one.call)
    assert one.call is not None
    if one.call.net is None:
        lost = next(lost for lost in one.call.left if lost.argument in _OF_NETWORK)
        return f"{item.name}:{lost.line}: {lost.argument}: {lost.why}."
    return Trainee(one.call.net_file or item.name, one.call.net.encode(), None, one.call)
