"""The form of what is being written: a call, a tuple of known length, an attribute block."""

from __future__ import annotations

from netsharp_lsp.ide.answers import Parameter, Signature
from netsharp_lsp.netsharp.ide.completion.place import Cursor
from netsharp_lsp.netsharp.ide.hover.bundles import output_text
from netsharp_lsp.netsharp.ide.hover.layers import fact
from netsharp_lsp.netsharp.ide.hover.values import value_in_force
from netsharp_lsp.netsharp.ide.meanings.glossary import (
    ATTRIBUTES,
    FUNCTIONS,
    KEYWORDS,
    form_named,
    function_form,
    limits,
)
from netsharp_lsp.netsharp.ide.places.situation import situation_at
from netsharp_lsp.netsharp.meaning.inforce import wanted
from netsharp_lsp.netsharp.meaning.values.attributes import FORMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.netsharp.ide.places.situation import Bracket
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.values.attributes import AttributeForm

#: What a block of attributes can be of.
KERNEL_WORDS = ("convolve", "max pool", "mean pool", "response norm", "all", "where")
#: Functions of two or more arguments repeat the last one.
ENDLESS = ("min", "max")


def signature_at(network: Network, offset: int) -> Signature | None:
    """Return the innermost form around an offset; None outside calls, tuples and blocks."""
    situation = situation_at(network.specification, offset)
    if situation is None:
        return None
    cursor = Cursor(network, situation, offset)
    for bracket in reversed(situation.brackets):
        if bracket.function in FUNCTIONS:
            return call_signature(bracket)
    if situation.attribute and situation.brackets:
        found = tuple_signature(cursor)
        if found is not None:
            return found
    in_block = situation.expected in ("attribute", "equals", "value", "operator")
    if in_block and situation.kind in KERNEL_WORDS:
        return block_signature(cursor)
    return None


def assembled(
    head: str, parts: Iterable[tuple[str, str]], marks: tuple[str, str], active: int | None
) -> Signature:
    """Return a signature with a head and parts as its label; `marks` separate and end them."""
    label = head
    parameters: list[Parameter] = []
    for text, documentation in parts:
        label += marks[0] if parameters else ""
        parameters.append(Parameter(len(label), len(label) + len(text), documentation))
        label += text
    return Signature(label + marks[1], "", tuple(parameters), active)


def call_signature(bracket: Bracket) -> Signature:
    """Return a call of a function."""
    name = bracket.function
    names, meaning = FUNCTIONS[name]
    active = bracket.index if bracket.index < len(names) or name not in ENDLESS else len(names) - 1
    parts = [(parameter, "") for parameter in names]
    found = assembled(f"{name}(", parts, (", ", ")"), active if active < len(names) else None)
    label = found.label if name not in ENDLESS else f"{function_form(name)[:-1]}, ...)"
    return Signature(label, meaning, found.parameters, found.active)


def tuple_signature(cursor: Cursor) -> Signature | None:
    """Return a tuple with one entry per dimension."""
    form = form_named(cursor.situation.attribute)
    bundle = cursor.bundle
    if form is None or form.shape not in ("tuple", "spread"):
        return None
    shape = bundle.input_shape if bundle is not None else None
    if shape is None or form.name == "InputShape":
        source = cursor.source
        shape = source.shape if source is not None else None
    if shape is None:
        return None
    index = cursor.situation.brackets[0].index
    parts = [
        (f"{form.element} {dimension}", f"dimension {dimension} of {size} cells")
        for dimension, size in enumerate(shape)
    ]
    active = index if index < len(parts) else None
    found = assembled(f"{form.name} = [", parts, (", ", "]"), active)
    return Signature(found.label, attribute_text(cursor, form), found.parameters, active)


def block_signature(cursor: Cursor) -> Signature:
    """Return a block of attributes; the active one is that of the cursor."""
    kind = cursor.situation.kind
    forms = [form for form in FORMS if kind in form.kinds]
    forms.sort(key=lambda form: kind not in form.required)
    active = None
    parts = []
    for number, form in enumerate(forms):
        text = form.name if kind in form.required else f"[{form.name}]"
        parts.append((text, attribute_text(cursor, form)))
        if form.name.lower() == cursor.situation.attribute.lower():
            active = number
    found = assembled(f"{kind} {{ ", parts, ("; ", "; }"), active)
    bundle = cursor.bundle
    lines = [KEYWORDS[kind].meaning]
    if bundle is not None and bundle.geometry is not None:
        lines += ["", fact("Output", output_text(bundle, bundle.geometry))]
    return Signature(found.label, "\n".join(lines), found.parameters, active)


def attribute_text(cursor: Cursor, form: AttributeForm) -> str:
    """Return an attribute's meaning, its limits and the value in force."""
    text = f"{ATTRIBUTES[form.name]} It is {wanted(form)}; limits: {limits(form)}"
    bundle = cursor.bundle
    value = value_in_force(bundle, form.name) if bundle is not None else ""
    if not value:
        return text
    default = "" if bundle is not None and form.name in bundle.given else ", by default"
    return f"{text}; in force: `{value}`{default}"
