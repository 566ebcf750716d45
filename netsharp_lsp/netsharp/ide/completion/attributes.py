"""Proposals inside the braces of a connection: the missing attributes, and their values."""

from __future__ import annotations

from netsharp_engine.geometry import Axis, product
from netsharp_lsp.netsharp.ide.completion.expressions import (
    FEW,
    constants_like,
    constants_with,
    functions,
)
from netsharp_lsp.netsharp.ide.completion.fitting import WITH_MAPS, fitted, usual
from netsharp_lsp.netsharp.ide.completion.place import Proposal
from netsharp_lsp.netsharp.ide.completion.templates import MAPS, Template, shape_of
from netsharp_lsp.netsharp.ide.meanings.glossary import form_named
from netsharp_lsp.netsharp.meaning.inforce import wanted
from netsharp_lsp.netsharp.meaning.values.attributes import FORMS
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.repairs.proposals import CONSTANTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.netsharp.ide.completion.fitting import Figures
    from netsharp_lsp.netsharp.ide.completion.place import Cursor
    from netsharp_lsp.netsharp.meaning.values.attributes import AttributeForm
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value

    Shapes = Iterator[tuple[tuple[int, ...], str]]

FITS = "gives the declared size"
#: What excludes what, in lower case.
EXCLUDED = {
    "padding": ("lowerpad", "upperpad"),
    "lowerpad": ("padding",),
    "upperpad": ("padding",),
}


def attributes(cursor: Cursor) -> Iterator[Proposal]:
    """Yield the attributes that the connection takes and does not have, required ones first."""
    situation = cursor.situation
    kind = situation.kind
    lacking = [
        form
        for form in FORMS
        if kind in form.kinds
        and form.name.lower() not in situation.given
        and not any(name in situation.given for name in EXCLUDED.get(form.name.lower(), ()))
    ]
    lacking.sort(key=lambda form: kind not in form.required)
    for form in lacking:
        needed = "required, " if kind in form.required else ""
        shape = next(_shapes(cursor, form), None)
        what = wanted(form) if shape is None else f"{show(shape[0])}, {shape[1]}"
        maps = _maps(cursor) if form.name == "MapCount" else None
        if maps is not None:
            what = f"{maps}, {FITS}"
        yield Proposal(
            form.name,
            "attribute",
            _given(cursor, form, shape[0] if shape is not None else None),
            detail=f"{needed}{what}",
            topic=f"attribute:{form.name}@{kind}",
        )


def _given(cursor: Cursor, form: AttributeForm, shape: tuple[int, ...] | None) -> Template:
    """Return an attribute with a value; its name alone where a value follows."""
    if cursor.text_after[:1] == b"=":
        return Template(form.name)
    template = Template(f"{form.name} = ")
    if form.element == "boolean":
        template.hole("true")
    elif shape is not None:
        template.shape(shape) if form.name != "InputShape" else template.add(show(shape))
    elif form.name == "MapCount":
        template.hole(str(_maps(cursor) or MAPS))
    elif form.name in CONSTANTS:
        template.hole(show(CONSTANTS[form.name]))
    else:
        template.hole("1" if form.shape == "scalar" else "Name")
    return template.add(";")


def _rank(cursor: Cursor) -> int | None:
    bundle = cursor.bundle
    if bundle is not None and bundle.input_shape is not None:
        return len(bundle.input_shape)
    source = cursor.source
    return len(source.shape) if source is not None and source.shape is not None else None


def _shapes(cursor: Cursor, form: AttributeForm) -> Shapes:
    """Yield whole tuples that suit an attribute, each with its description."""
    proposals = SHAPES.get(form.name)
    if proposals is not None:
        seen = set()
        for shape, detail in proposals(cursor):
            if shape not in seen:
                seen.add(shape)
                yield shape, detail


def _input(cursor: Cursor) -> tuple[int, ...]:
    bundle = cursor.bundle
    if bundle is not None and bundle.input_shape is not None:
        return bundle.input_shape
    return shape_of(cursor.source)


def _fitted(cursor: Cursor) -> Figures | None:
    """Return the figures that give the declared size, with those given already kept."""
    bundle, shape = cursor.bundle, _input(cursor)
    if bundle is None:
        return fitted(cursor.situation.kind, shape, cursor.declared)
    stride = bundle.stride if "Stride" in bundle.given else None
    padding = bundle.padding if "Padding" in bundle.given else None
    known = (bundle.kernel_shape, stride, padding)
    return fitted(cursor.situation.kind, shape, cursor.declared, known)


def _kernel(cursor: Cursor) -> tuple[int, ...]:
    """Return the kernel that is given, else one that fits, else a usual one."""
    bundle, shape = cursor.bundle, _input(cursor)
    given = bundle.kernel_shape if bundle is not None else None
    if given is not None and len(given) == len(shape):
        return given
    return (_fitted(cursor) or usual(cursor.situation.kind, shape)).kernel


def _input_shapes(cursor: Cursor) -> Shapes:
    source = cursor.source
    yield shape_of(source), f"the shape of {source.name}" if source is not None else "a usual shape"


def _kernel_shapes(cursor: Cursor) -> Shapes:
    shape, figures = _input(cursor), _fitted(cursor)
    if figures is not None:
        yield figures.kernel, FITS
    yield usual(cursor.situation.kind, shape).kernel, "usual"
    for size in (5, 3, 2):
        window = tuple(min(size, cells) for cells in shape[len(shape) >= WITH_MAPS :])
        sides = dict.fromkeys(window) if len(set(window)) == 1 else window
        detail = f"a window of {' x '.join(map(str, sides))}"
        yield (1,) * (len(shape) - len(window)) + window, detail


def _strides(cursor: Cursor) -> Shapes:
    kernel, figures = _kernel(cursor), _fitted(cursor)
    if figures is not None:
        yield figures.stride, FITS
    ones = (1,) * len(kernel)
    if cursor.situation.kind.endswith("pool"):
        yield kernel, "kernels side by side"
        yield ones, "every cell"
        return
    yield ones, "every cell"
    yield tuple(min(2, cells) for cells in kernel), "every second cell"


def _lower_pads(cursor: Cursor) -> Shapes:
    yield tuple((cells - 1) // 2 for cells in _kernel(cursor)), "up to the first cell"


def _upper_pads(cursor: Cursor) -> Shapes:
    yield tuple(cells // 2 for cells in _kernel(cursor)), "up to the last cell"


SHAPES: dict[str, Callable[[Cursor], Shapes]] = {
    "InputShape": _input_shapes,
    "KernelShape": _kernel_shapes,
    "LowerPad": _lower_pads,
    "Stride": _strides,
    "UpperPad": _upper_pads,
}


def _maps(cursor: Cursor) -> int | None:
    """Return the maps that give the declared size, None where none do or a value is unknown."""
    bundle = cursor.bundle
    if bundle is None or bundle.input_shape is None or bundle.kernel_shape is None:
        return None
    rank = len(bundle.input_shape)
    stride, padding = bundle.stride or (1,) * rank, bundle.padding or (False,) * rank
    columns = (bundle.input_shape, bundle.kernel_shape, stride, padding)
    if min(stride) < 1 or any(len(column) != rank for column in columns):
        return None
    figures = zip(*columns, strict=True)
    counts = product(tuple(Axis(i, k, s, padding=p).count for i, k, s, p in figures))
    nodes = bundle.layer.nodes
    if not counts or nodes is None or nodes % counts:
        return None
    return nodes // counts


# Values.


def values(cursor: Cursor) -> Iterator[Proposal]:
    """Yield values of an attribute, or entries of one."""
    form = form_named(cursor.situation.attribute)
    if form is None:
        return
    if cursor.situation.brackets:
        yield from _entries(cursor, form)
        return
    yield from _whole_values(cursor, form)
    yield from constants_like(
        cursor, lambda value: _suits(value, form) and _fits_source(cursor, value, form)
    )


def _whole_values(cursor: Cursor, form: AttributeForm) -> Iterator[Proposal]:
    if form.element == "boolean":
        yield from _booleans()
        rank = _rank(cursor)
        if form.shape == "spread" and rank is not None and rank > 1:
            template = Template("[")
            for dimension in range(rank):
                template.add(", " if dimension else "").hole("true")
            yield Proposal("[true, …]", "value", template.add("]"), detail="one a dimension")
    for shape, detail in _shapes(cursor, form):
        yield Proposal(show(shape), "value", detail=detail)
    maps = _maps(cursor) if form.name == "MapCount" else None
    if maps is not None:
        yield Proposal(str(maps), "value", detail=FITS)
    if form.name in CONSTANTS:
        yield Proposal(show(CONSTANTS[form.name]), "value", detail="as in the guide")


def _booleans() -> Iterator[Proposal]:
    for word in ("true", "false"):
        yield Proposal(word, "value", topic=f"keyword:{word}")


def _entries(cursor: Cursor, form: AttributeForm) -> Iterator[Proposal]:
    if form.element == "boolean":
        yield from _booleans()
    shape = next(_shapes(cursor, form), None)
    index = cursor.situation.brackets[0].index
    if shape is not None and len(cursor.situation.brackets) == 1 and index < len(shape[0]):
        yield Proposal(str(shape[0][index]), "value", detail=f"{shape[1]}, dimension {index}")
    yield from constants_with(cursor, lambda value: _fits_entry(value, form))
    if form.element != "boolean":
        yield from functions()


def _fits_entry(value: Value, form: AttributeForm) -> bool:
    if isinstance(value, tuple):
        return False
    if isinstance(value, bool) or form.element == "boolean":
        return isinstance(value, bool) and form.element == "boolean"
    return isinstance(value, int) or form.element == "real"


def _fits_source(cursor: Cursor, value: Value, form: AttributeForm) -> bool:
    """Return whether a tuple has an entry per dimension, or as many nodes as the source."""
    if not isinstance(value, tuple) or form.shape == "list":
        return True
    if form.name == "InputShape":
        nodes = cursor.source.nodes if cursor.source is not None else None
        return nodes is None or product(tuple(e for e in value if isinstance(e, int))) == nodes
    return _rank(cursor) in (None, len(value))


def _suits(value: Value, form: AttributeForm) -> bool:
    if isinstance(value, tuple):
        return form.shape != "scalar" and all(_fits_entry(entry, form) for entry in value[:FEW])
    return form.shape in ("scalar", "spread") and _fits_entry(value, form)
