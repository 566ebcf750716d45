"""Rules about the called functions."""

from __future__ import annotations

from netsharp_lsp.cntk.migration.networks.functions import (
    BY_HAND,
    INPUTS,
    KEPT,
    OPERATORS,
    OTHERWISE,
    tag_of,
)
from netsharp_lsp.cntk.migration.rules import AUTOMATIC, PERSON, rule
from netsharp_lsp.cntk.ndl.functions import function_of
from netsharp_lsp.cntk.ndl.syntax import NdlCall, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.migration.editing.edits import Edit, Todo
    from netsharp_lsp.cntk.migration.networks.names import CallSite
    from netsharp_lsp.cntk.migration.networks.network import MigratedNetwork

#: Normalizations that the library makes of other nodes.
_NORMALIZATIONS = ("PerDimMeanVarNormalization",)


def _name(site: CallSite) -> str:
    """Return the name by which a function of NDL is called."""
    return site.call.name.text


@rule("MG09", AUTOMATIC)
def spelling(network: MigratedNetwork) -> Iterator[Edit]:
    """Correct the case of a function's name."""
    for site in network.names.calls:
        if site.function is None:
            continue
        wanted = KEPT.get(_name(site).lower())
        if wanted is None and _name(site).lower() == site.function.name.lower():
            wanted = site.function.name
        if wanted is not None and wanted != _name(site):
            name = site.call.name
            yield site.text.edit("MG09", name.start, name.end, wanted)


@rule("MG10", AUTOMATIC)
def short_names(network: MigratedNetwork) -> Iterator[Edit]:
    """Replace a short name that BrainScript does not know."""
    for site in network.names.calls:
        name = site.call.name
        short = site.function is not None and _name(site).lower() == site.function.short.lower()
        if site.function is not None and short and _name(site).lower() not in KEPT:
            yield site.text.edit("MG10", name.start, name.end, site.function.name)


@rule("MG11", AUTOMATIC)
def long_inputs(network: MigratedNetwork) -> Iterator[Edit]:
    """Rename `InputValue` and `SparseInputValue`."""
    for site in network.names.calls:
        name = site.call.name
        if site.function is None or site.function.name not in INPUTS:
            continue
        if _name(site).lower() == site.function.name.lower():
            # One byte more than the name of another rule, which this one covers.
            yield site.text.edit(
                "MG11", name.start, site.arguments.open + 1, INPUTS[site.function.name] + " {"
            )


@rule("MG31", PERSON)
def without_a_function(network: MigratedNetwork) -> Iterator[Edit | Todo]:
    """Replace a function that the library does not have."""
    for site in network.names.calls:
        name = site.function.name if site.function is not None else ""
        if name in OTHERWISE:
            word = site.call.name
            yield site.text.edit("MG31", word.start, site.arguments.open, f"{OTHERWISE[name]} ")
        elif (best := _best(site)) is not None:
            third = site.arguments.span(site.arguments.positional[2])
            yield site.text.edit("MG31", *third, f"topN={best}")
            continue
        elif name in BY_HAND or _has_weight(site):
            yield from _by_hand(site, "MG31")
        elif _is_bilinear(site):
            message = "BrainScript cannot start a parameter with 'bilinear': its size is missing."
            span = (site.call.start, site.call.end)
            yield site.text.todo("MG31", span, message, blocks=True)
            continue
        else:
            continue
        form = " with this number of inputs" if _has_weight(site) else ""
        message = f"BrainScript has no function '{name}'{form}. Check what replaces it."
        yield site.text.todo("MG31", (site.call.start, site.call.end), message)


def _has_weight(site: CallSite) -> bool:
    """Return whether a criterion has a third input, which the function does not take."""
    name = site.function.name if site.function is not None else ""
    return name in ("Logistic", "ClassificationError") and len(site.arguments.positional) > 2


def _best(site: CallSite) -> str | None:
    """Return the K of a top-K error whose node takes it as a constant; None for others."""
    if not _has_weight(site) or site.function is None or site.function.name == "Logistic":
        return None
    third = site.arguments.positional[2]
    if not isinstance(third, NdlCall) or len(third.arguments) != 1:
        return None
    function, number = function_of(third.name.text), third.arguments[0]
    if function is None or function.name != "Constant" or not isinstance(number, Word):
        return None
    # Of one there is no constant in BrainScript's network.
    return number.text if number.is_number and float(number.text) != 1 else None


def _is_bilinear(site: CallSite) -> bool:
    """Return whether a parameter starts with weights whose size is only given in NDL."""
    init = site.arguments.option("init")
    parameter = site.function is not None and "parameter" in site.function.form
    word = init.value if init is not None and parameter else None
    return isinstance(word, Word) and word.text.lower() == "bilinear"


@rule("MG46", AUTOMATIC)
def normalization(network: MigratedNetwork) -> Iterator[Edit]:
    """Keep `PerDimMeanVarNormalization` one node."""
    for site in network.names.calls:
        if site.function is not None and site.function.name in _NORMALIZATIONS:
            yield from _by_hand(site, "MG46")


def _by_hand(site: CallSite, code: str) -> Iterator[Edit]:
    """Yield edits that write a call as the node that it creates."""
    assert site.function is not None
    given, text = site.arguments, site.text
    count = _inputs(site)
    head = f'new ComputationNode {{ operation = "{site.function.operation}" ; inputs = '
    several = "(" if count > 1 else ""
    yield text.edit(code, site.call.name.start, given.open + 1, head + several)
    for start, end in given.separators(0, count - 1):
        yield text.edit(code, start, end, ":")
    after = given.span(given.positional[count - 1])[1]
    tag = given.option("tag")
    written = tag_of(tag.value.text) if tag is not None and isinstance(tag.value, Word) else ""
    closing = ")" if count > 1 else ""
    offsets = _offsets(site, count)
    last = given.last_end
    yield text.edit(code, after, last, f'{closing}{offsets} ; tag = "{written}"')
    yield text.edit(code, given.close, given.close + 1, " }")


def _inputs(site: CallSite) -> int:
    """Return the number of arguments of a call that are inputs of its node."""
    positional = site.arguments.positional
    if site.function is not None and site.function.name == "Crop" and len(positional) > 2:
        third = positional[2]
        return 2 if isinstance(third, Word) and third.is_number else len(positional)
    return len(positional)


def _offsets(site: CallSite, count: int) -> str:
    """Return the offsets of `Crop`, as members."""
    rest = site.arguments.positional[count:]
    names = ("xOffset", "yOffset")
    return "".join(
        f" ; {name} = {one.text}"
        for name, one in zip(names, rest, strict=False)
        if isinstance(one, Word)
    )


@rule("MG39", AUTOMATIC, requested=True)
def operators(network: MigratedNetwork) -> Iterator[Edit]:
    """Write functions as operators."""
    for site in network.names.calls:
        sign = OPERATORS.get(site.function.name) if site.function is not None else None
        given = site.arguments
        if sign is None or given.options or len(given.positional) != 2:
            continue
        outermost = site.owner is not None
        yield site.text.edit("MG39", site.call.name.start, given.open + 1, "" if outermost else "(")
        for start, end in given.separators(0, 1):
            yield site.text.edit("MG39", start, end, f" {sign} ")
        if outermost:
            yield site.text.edit("MG39", given.close, given.close + 1, "")
