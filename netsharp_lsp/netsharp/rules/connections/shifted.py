"""The rule on attribute values that are shifted by one line, as in pasted specifications."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Finding, RelativeSpan, Repair
from netsharp_lsp.netsharp.meaning.inforce import suits
from netsharp_lsp.netsharp.meaning.values.attributes import BY_NAME, KERNEL_KINDS, NORM
from netsharp_lsp.netsharp.meaning.values.evaluate import is_number
from netsharp_lsp.netsharp.rules import BUNDLE, rule
from netsharp_lsp.netsharp.rules.connections.attributes import applicable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.values.attributes import AttributeForm
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value
    from netsharp_lsp.netsharp.reading.syntax import Attribute


@rule("NS119", "hint", on=BUNDLE, kinds=KERNEL_KINDS)
def shifted_values(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report values that suit the attribute beside the one they are given to."""
    if bundle.kind == NORM and exchanged_constants(bundle):
        yield exchanged(bundle)
    elif bundle.has_kernel:
        names = shifted_names(bundle, network)
        if names:
            yield shifted(bundle, names)


def exchanged_constants(bundle: Bundle) -> bool:
    """Return whether Alpha has the usual size of Beta and Beta that of Alpha."""
    alpha, beta = (bundle.given.get(name) for name in ("Alpha", "Beta"))
    if alpha is None or beta is None or not is_number(alpha.value) or not is_number(beta.value):
        return False
    return bundle.scalar("Alpha", 0) >= 0.25 and 0 < bundle.scalar("Beta", 1) <= 0.01


def exchanged(bundle: Bundle) -> Finding:
    """Return the finding for Alpha and Beta."""
    alpha, beta = bundle.given["Alpha"], bundle.given["Beta"]
    places = [RelativeSpan.of(bundle.declaration, given.attribute.name) for given in (alpha, beta)]
    message = (
        "The values look shifted by one attribute: usual are Alpha near 0.001 and Beta near 0.75."
    )
    changes = [Change(places[0], "Beta"), Change(places[1], "Alpha")]
    first = min(places, key=lambda place: place.start)
    repair = Repair("Exchange Alpha and Beta", changes, safe=False)
    return Finding("NS119", first, message, repair=repair)


def shifted_names(bundle: Bundle, network: Network) -> list[tuple[Attribute, str]]:
    """Return the attributes with unsuitable values, and names that suit; empty if in doubt."""
    misfits = [
        (given.attribute, raw_value(bundle, given.attribute, network))
        for given in bundle.given.values()
        if given.value is None and bundle.kind in given.form.kinds
    ]
    if len(misfits) < 2 or any(value is None for _, value in misfits):
        return []
    own = [BY_NAME[attribute.name.text.lower()].name for attribute, _ in misfits]
    free = [form.name for form in applicable(bundle.kind) if form.name not in bundle.given]
    values = [value for _, value in misfits]
    attributes = [attribute for attribute, _ in misfits]
    candidates = [own[1:] + own[:1]]
    candidates += [[*own[1:], extra] for extra in ["MapCount", *free] if extra in free]
    candidates += [[extra, *own[:-1]] for extra in free]
    for names in candidates:
        if all(fits(BY_NAME[n.lower()], v) for n, v in zip(names, values, strict=True)):
            return list(zip(attributes, names, strict=True))
    return []


def raw_value(bundle: Bundle, attribute: Attribute, network: Network) -> Value | None:
    """Return the value of an attribute whatever its type; its faults are already reported."""
    if attribute.value is None:
        return None
    return network.evaluate(bundle.declaration, attribute.value, list[Finding]().append)


def fits(form: AttributeForm, value: Value | None) -> bool:
    """Return whether a value has the type that an attribute requires."""
    if isinstance(value, tuple):
        return form.shape != "scalar" and all(suits(entry, form.element) for entry in value)
    return value is not None and form.shape not in ("tuple", "list") and suits(value, form.element)


def shifted(bundle: Bundle, names: list[tuple[Attribute, str]]) -> Finding:
    """Return the finding for a run of attributes that should be renamed."""
    pairs = ", ".join(f"{attribute.name.text} is {name}" for attribute, name in names)
    changes = [
        Change(RelativeSpan.of(bundle.declaration, attribute.name), name)
        for attribute, name in names
    ]
    first = min((change.place for change in changes), key=lambda place: place.start)
    message = f"The values look shifted by one attribute: perhaps {pairs}."
    return Finding(
        "NS119", first, message, repair=Repair("Rename the attributes", changes, safe=False)
    )
