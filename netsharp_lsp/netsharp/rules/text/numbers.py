"""Rules on numbers and names: malformed numbers, names that start with a digit."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Finding, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.reading.expressions import expressions_of, operands
from netsharp_lsp.netsharp.reading.syntax import Name, Number
from netsharp_lsp.netsharp.rules import DECLARATION, NAMED, rule
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Constant, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Declaration

#: `1_000`, `0x1F`, `10k`: numbers of other languages.
FOREIGN_NUMBER = late(r"\d[\d_]*\Z|\d+[eE]\Z|0[xX][0-9a-fA-F_]+\Z|0[bBoO][0-7_]+\Z")


@rule("NS005", "error", on=DECLARATION, rests=Rests.TEXT)
def malformed_number(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report a literal with two points, or in a notation that Net# does not have."""
    if network.doubts.foreign or not declaration.odd_digits:
        return
    for node in operands(expressions_of(declaration)):
        place = RelativeSpan.of(declaration, node)
        if isinstance(node, Number) and node.value is None:
            yield Finding("NS005", place, f"Malformed number '{node.text}'.")
        elif isinstance(node, Name) and FOREIGN_NUMBER.match(node.text):
            hint = "Net# has decimal digits only"
            if node.text[-1] in "eE":
                hint = "digits are missing after the exponent"
            message = f"Malformed number '{node.text}': {hint}."
            yield Finding("NS005", place, message)


@rule("NS007", "error", on=NAMED, rests=Rests.TEXT)
def starts_with_digit(named: Constant | Layer, network: Network) -> Iterator[Finding]:
    """Report a name that begins with a digit; the fix renames its uses too."""
    if named.name[:1].isdigit() and not network.doubts.foreign:
        places = [named.place, *(RelativeSpan.of(*use) for use in network.uses_of(named))]
        yield renamed(named.name, places)


@rule("NS007", "error", on=DECLARATION, rests=Rests.TEXT)
def unknown_name_starts_with_digit(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report a name in an expression that begins with a digit and is declared nowhere."""
    if network.doubts.foreign or not declaration.odd_digits:
        return
    for node in operands(expressions_of(declaration)):
        if isinstance(node, Name) and node.text[:1].isdigit():
            known = node.text in network.constants or FOREIGN_NUMBER.match(node.text)
            if not known:
                yield renamed(node.text, [RelativeSpan.of(declaration, node)])


def renamed(name: str, places: list[RelativeSpan]) -> Finding:
    """Return the finding for a name at the first of some places; the fix changes all of them."""
    changes = [Change(place, f"_{name}") for place in places]
    message = f"A name cannot start with a digit: '{name}'."
    repair = Repair(f"Rename to '_{name}'", changes, safe=True)
    return Finding("NS007", places[0], message, repair=repair)
