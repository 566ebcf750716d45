"""The description of attributes and constants: the value in force and its derivation."""

from __future__ import annotations

from netsharp_lsp.netsharp.arithmetic import positions
from netsharp_lsp.netsharp.findings import RelativeSpan
from netsharp_lsp.netsharp.ide.hover.layers import fact
from netsharp_lsp.netsharp.ide.meanings.counting import bundle_equation, counted, node_product
from netsharp_lsp.netsharp.ide.meanings.glossary import attribute_markdown, form_named, limits
from netsharp_lsp.netsharp.meaning.counts.sharing import GEOMETRY
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.reading.expressions import names_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.ide.places.subjects import Subject
    from netsharp_lsp.netsharp.meaning.model import Bundle, Constant
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.values.attributes import AttributeForm
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value
    from netsharp_lsp.netsharp.reading.syntax import Declaration, Expression

#: Where a bundle keeps the value in force of an attribute with one entry a dimension.
FIELDS = dict(GEOMETRY)
SCALARS = {"Offset": "1", "AvgOverFullKernel": "false"}
#: More entries of a tuple, and more of an expression, are cut off.
MOST_ENTRIES = 12
LONGEST = 160


def shown(value: Value) -> str:
    """Return a value as Net# writes it; a long tuple by its first entries."""
    if isinstance(value, tuple) and len(value) > MOST_ENTRIES:
        entries = ", ".join(show(entry) for entry in value[:MOST_ENTRIES])
        return f"[{entries}, ...]"
    return show(value)


# Attributes.


def value_in_force(bundle: Bundle, name: str) -> str:
    """Return an attribute's value in force as Net# writes it; empty while unknown."""
    if name in FIELDS:
        value: Value | None = getattr(bundle, FIELDS[name])
        return "" if value is None else show(value)
    given = bundle.given.get(name)
    if given is None:
        return SCALARS.get(name, "")
    return "" if given.value is None else shown(given.value)


def attribute_in_force(subject: Subject, network: Network, offset: int) -> str:
    """Return an attribute's description: meaning, limits, default, and the value in force."""
    form = form_named(subject.text)
    if form is None:
        return ""
    bundle = subject.bundle
    if bundle is None:
        return attribute_markdown(form, more=_layer_values(subject, form))
    value = value_in_force(bundle, form.name)
    return attribute_markdown(form, bundle.kind, value, consequences(bundle, form, network))


def _layer_values(subject: Subject, form: AttributeForm) -> list[str]:
    given = subject.layer.given.get(form.name) if subject.layer is not None else None
    if given is None or not isinstance(given.value, tuple):
        return []
    return [fact("Given", counted(len(given.value), "value"))]


def consequences(bundle: Bundle, form: AttributeForm, network: Network) -> Iterator[str]:
    """Yield what follows from the value in force of an attribute."""
    geometry, shape = bundle.geometry, bundle.input_shape
    if form.name == "InputShape" and shape is not None and bundle.source is not None:
        yield fact("Source", f"`{bundle.source_name}`: {node_product(shape)} nodes")
    elif form.name in ("Sharing", "MapCount") and geometry is not None:
        yield fact("Parameters", bundle_equation(bundle, network))
    elif form.name == "Weights":
        given = bundle.given.get("Weights")
        if given is not None and isinstance(given.value, tuple):
            yield fact("Given", counted(len(given.value), "value"))
        yield fact("Needed", bundle_equation(bundle, network))
    elif form.name in FIELDS and geometry is not None:
        for dimension, axis in enumerate(geometry.axes):
            yield fact(f"Positions in dimension {dimension}", f"`{positions(axis)}`")


def value_markdown(subject: Subject, network: Network, offset: int) -> str:
    """Return the description of a value; of an entry of a tuple, its effect in its dimension."""
    attribute, bundle = subject.attribute, subject.bundle
    form = form_named(attribute.name.text) if attribute is not None else None
    if form is None:
        return ""
    if bundle is None:
        return "\n".join((f"```netsharp\n{form.name}\n```", *_layer_values(subject, form)))
    if subject.dimension is not None and form.name in FIELDS:
        return entry_markdown(bundle, form, subject.dimension)
    value = value_in_force(bundle, form.name) or "?"
    head = f"```netsharp\n{form.name} = {value}\n```"
    return "\n".join((head, *consequences(bundle, form, network)))


def entry_markdown(bundle: Bundle, form: AttributeForm, dimension: int) -> str:
    """Return the description of one entry of a tuple."""
    given = bundle.given.get(form.name)
    entries = given.value if given is not None else None
    known = isinstance(entries, tuple) and dimension < len(entries)
    value = show(entries[dimension]) if known else "?"  # type: ignore[index]
    lines = [f"```netsharp\n{form.name}[{dimension}] = {value}\n```"]
    lines.append(fact("Limits", limits(form)))
    geometry = bundle.geometry
    if geometry is not None and form.name in FIELDS and dimension < len(geometry.axes):
        axis, maps = geometry.axes[dimension], geometry.maps[dimension]
        lines.append(fact("Positions", f"`{positions(axis)}`"))
        if maps > 1:
            lines.append(fact("Output", f"{maps} maps x {axis.count} = {maps * axis.count}"))
    return "\n".join(lines)


# Constants.


def constant_markdown(constant: Constant, network: Network) -> str:
    """Return the description of a constant: its value and its derivation."""
    value = constant.value
    if value is None:
        why = "it refers to itself" if constant.circular else "its expression has a fault"
        return f"```netsharp\nconst {constant.name}\n```\n{fact('Value', f'none: {why}')}"
    head = f"```netsharp\nconst {constant.name} = {shown(value)}\n```"
    lines = [head, *constant_facts(constant, value, network)]
    return "\n".join(lines)


def constant_facts(constant: Constant, value: Value, network: Network) -> Iterator[str]:
    """Yield the parts of a constant's value."""
    if isinstance(value, tuple):
        yield fact("Values", f"{len(value):,}{_extent(value)}")
        return
    expression = constant.item.value
    if expression is None:
        return
    way = derivation(constant.declaration, expression, value, network)
    if way:
        yield fact("From", f"`{way}`")


def _extent(values: tuple[Value, ...]) -> str:
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(numbers) < 2 or len(numbers) < len(values):
        return ""
    return f", from {show(min(numbers))} to {show(max(numbers))}"


def derivation(
    declaration: Declaration, expression: Expression, value: Value, network: Network
) -> str:
    """Return `HiddenSize * 2 = 50 * 2 = 100`; empty where the text is the value already."""
    place = RelativeSpan.of(declaration, expression)
    written = " ".join(network.text(place).split())
    result = shown(value)
    if written.lower() == result.lower() or len(written) > LONGEST:
        return ""
    steps = [written]
    replaced = " ".join(_with_values(declaration, expression, network).split())
    if replaced not in (written, result):
        steps.append(replaced)
    return " = ".join((*steps, result))


def _with_values(declaration: Declaration, expression: Expression, network: Network) -> str:
    """Return the text of an expression, its constants replaced by their values."""
    specification = network.specification
    base = specification.starts[declaration]
    text = specification.data
    at, parts = base + expression.start, []
    for name in sorted(names_in(expression), key=lambda name: name.start):
        constant = network.constants.get(name.text)
        if constant is not None and constant.value is not None:
            value = shown(constant.value)
            parts += [text[at : base + name.start].decode("utf-8", "replace"), value]
            at = base + name.end
    parts.append(text[at : base + expression.end].decode("utf-8", "replace"))
    return "".join(parts)
