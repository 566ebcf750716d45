"""The value in force of an attribute, a size or an activation, given or by default.

Pure functions over the model; they report nothing. Source: the Net# guide, "Structure
specifications", "Convolutional bundles" and "Activation functions".
"""

from __future__ import annotations

from netsharp_engine.activations import NAMES
from netsharp_engine.geometry import Axis
from netsharp_lsp.netsharp.meaning.model import Geometry
from netsharp_lsp.netsharp.meaning.values.attributes import BY_NAME, LAYER_FORMS
from netsharp_lsp.netsharp.meaning.values.evaluate import is_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from netsharp_lsp.context import Context
    from netsharp_lsp.netsharp.meaning.model import Bundle, Given, Layer
    from netsharp_lsp.netsharp.meaning.values.attributes import AttributeForm
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value


#: Nodes of a hidden `auto` layer on every host, unless another number is given.
HOSTS_HIDDEN_NODES = 100


def hidden_nodes_in_force(context: Context) -> int | None:
    """Return the nodes of a hidden `auto` layer: the given number, else a named host's default."""
    if context.hidden_nodes is not None or context.host is None:
        return context.hidden_nodes
    return HOSTS_HIDDEN_NODES


def needed_outputs(context: Context) -> int | None:
    """Return the nodes of an `auto` output layer: the guide's rule, and rx's for two classes."""
    if context.outputs is not None:
        return context.outputs
    if context.task == "regression":
        return 1
    if context.task == "binary":
        return 1 if context.host == "rx" else 2
    return None


def activation_in_force(layer: Layer, task: str | None) -> str | None:
    """Return the written activation, else the default; None for an unknown one, and for inputs."""
    if not layer.trainable:
        return None
    if layer.item.activation is not None:
        written = layer.item.activation.text.lower()
        return written if written in NAMES else None
    if layer.kind == "output":
        return "linear" if task == "regression" else "sigmoid"
    return "linear" if layer.only_summarises() else "sigmoid"


def wanted(form: AttributeForm) -> str:
    """Return the required type of an attribute's value, in words."""
    element = {"integer": "whole number", "boolean": "true or false", "real": "number"}[
        form.element
    ]
    if form.shape == "scalar":
        return element if form.element == "boolean" else f"a {element}"
    plural = element if form.element == "boolean" else f"{element}s"
    if form.shape == "spread":
        single = element if form.element == "boolean" else f"a {element}"
        return f"{single} or a tuple of {plural}"
    return f"a tuple of {plural}"


def suits(entry: Value, element: str) -> bool:
    """Return whether one entry has the type that an attribute requires."""
    if element == "boolean":
        return isinstance(entry, bool)
    if element == "integer":
        return isinstance(entry, int) and not isinstance(entry, bool)
    return is_number(entry)


def integers_of(given: Given | None) -> tuple[int, ...] | None:
    """Return a tuple of whole numbers, None unless it is one with at least one entry."""
    if given is None or not isinstance(given.value, tuple):
        return None
    entries = tuple(entry for entry in given.value if isinstance(entry, int))
    return entries or None


def numbers_of(given: Given | None) -> tuple[float, ...] | None:
    """Return a tuple of reals, None unless it is one."""
    if given is None or not isinstance(given.value, tuple):
        return None
    return tuple(float(entry) for entry in given.value if isinstance(entry, int | float))


def spread(bundle: Bundle, name: str, default: int, rank: int) -> tuple[int, ...] | None:
    """Return a tuple attribute in force: the given entries, or the default in each dimension."""
    given = bundle.given.get(name)
    if given is None:
        return (default,) * rank
    return integers_of(given)


def spread_booleans(bundle: Bundle, name: str, default: bool, rank: int) -> tuple[bool, ...] | None:
    """Return a boolean attribute in force: a single value applies to all dimensions."""
    given = bundle.given.get(name)
    if given is None:
        return (default,) * rank
    if isinstance(given.value, bool):
        return (given.value,) * rank
    if not isinstance(given.value, tuple):
        return None
    return tuple(bool(entry) for entry in given.value)


def maps_in_force(bundle: Bundle, rank: int) -> tuple[int, ...] | None:
    """Return MapCount in force: one value m means [m, 1, ..., 1]."""
    given = bundle.given.get("MapCount")
    if given is None:
        return (1,) * rank
    if isinstance(given.value, int) and not isinstance(given.value, bool):
        return (given.value, *(1,) * (rank - 1))
    return integers_of(given)


#: The figures that make a geometry, each with one entry per dimension.
FIGURES = (
    "input_shape",
    "kernel_shape",
    "stride",
    "padding",
    "lower_pad",
    "upper_pad",
    "sharing",
    "map_count",
)


def figures_over(bundle: Bundle, rank: int) -> dict[str, tuple[int, ...] | None]:
    """Return the figures in force over `rank` dimensions, without the two shapes."""
    return {
        "stride": spread(bundle, "Stride", 1, rank),
        "padding": spread_booleans(bundle, "Padding", False, rank),
        "lower_pad": spread(bundle, "LowerPad", 0, rank),
        "upper_pad": spread(bundle, "UpperPad", 0, rank),
        "sharing": spread_booleans(bundle, "Sharing", True, rank),
        "map_count": maps_in_force(bundle, rank),
    }


def geometry_of(
    bundle: Bundle, instead: Mapping[str, tuple[Value, ...]] | None = None, unnamed: int = 0
) -> Geometry | None:
    """Return the kernels of a bundle, None unless every figure is known and valid.

    An attribute with an unknown name may be any of them, so where there are more than `unnamed`,
    the result is None too. `instead`: figures in place of those in force.
    """
    names = (attribute.name.text.lower() for attribute in bundle.item.attributes)
    if sum(name not in BY_NAME and name not in LAYER_FORMS for name in names) > unnamed:
        return None
    columns: list[Any] = [getattr(bundle, figure) for figure in FIGURES]
    if instead is not None:
        columns = [instead.get(*pair) for pair in zip(FIGURES, columns, strict=True)]
    size, kernel, stride, padding, lower, upper, sharing, maps = columns
    if not size or any(column is None or len(column) != len(size) for column in columns):
        return None
    if "Padding" in bundle.given and ("LowerPad" in bundle.given or "UpperPad" in bundle.given):
        return None
    axes = tuple(
        Axis(i, k, s, padding=p, lower=low, upper=up)
        for i, k, s, p, low, up in zip(size, kernel, stride, padding, lower, upper, strict=True)
    )
    if not all(is_valid(axis) for axis in axes) or min(maps) < 1:
        return None
    return Geometry(axes, sharing, maps, bundle.kind == "convolve")


def is_valid(axis: Axis) -> bool:
    """Return whether one dimension obeys the guide's limits (pads in real division)."""
    return (
        1 <= axis.kernel <= axis.size
        and 1 <= axis.stride <= axis.kernel
        and 0 <= 2 * axis.lower < axis.kernel
        and 0 <= 2 * axis.upper <= axis.kernel
        and axis.filled
    )
