"""Rules on kernels that must fit their source, and on layers that must fit their kernels."""

from __future__ import annotations

from netsharp_engine.geometry import Axis, product
from netsharp_lsp.netsharp.arithmetic import counted, factors, positions
from netsharp_lsp.netsharp.findings import Change, Finding, Note, Repair
from netsharp_lsp.netsharp.meaning.values.attributes import KERNEL_KINDS
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.repairs.proposals import filling_pads, proposed_shape
from netsharp_lsp.netsharp.repairs.rewriting import (
    added_attribute,
    changed_entry,
    changed_tuple,
)
from netsharp_lsp.netsharp.rules import BUNDLE, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

PADS = ("LowerPad", "UpperPad")


def given_entries(bundle: Bundle, name: str) -> tuple[int, ...] | None:
    """Return the whole numbers of a given tuple, None where it is not given or faulty."""
    given = bundle.given.get(name)
    if given is None or not isinstance(given.value, tuple):
        return None
    return tuple(entry for entry in given.value if isinstance(entry, int))


def pairs(bundle: Bundle, first: str, second: str) -> Iterator[tuple[int, int, int]]:
    """Yield two given tuples side by side, as (dimension, entry, entry), if ranks agree."""
    left, right = given_entries(bundle, first), given_entries(bundle, second)
    if left is None or right is None or len(left) != len(right) or not bundle.has_kernel:
        return
    for dimension, (a, b) in enumerate(zip(left, right, strict=True)):
        yield dimension, a, b


def source_fits(bundle: Bundle) -> bool:
    """Return whether InputShape has the nodes of the source, as far as both are known."""
    shape, source = bundle.input_shape, bundle.source
    if shape is None or source is None or source.nodes is None:
        return True
    return product(shape) == source.nodes


@rule("NS066", "error", on=BUNDLE, kinds=KERNEL_KINDS)
def source_disagrees(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report an InputShape with another number of nodes than the source layer."""
    shape, source = bundle.input_shape, bundle.source
    if shape is None or min(shape) < 1 or source is None or source_fits(bundle):
        return
    assert source.shape is not None
    message = (
        f"InputShape {show(shape)} has {counted(product(shape), 'node')}; "
        f"source '{source.name}' has {source.nodes}."
    )
    notes = [
        Note(sized(source.name, source.shape, source), source.size_place),
        Note(f"InputShape: {factors(shape)} = {product(shape)}.", bundle.value_place("InputShape")),
    ]
    proposed = proposed_shape(bundle)
    repair = None
    if proposed is not None:
        changes = changed_tuple(bundle, "InputShape", proposed)
        repair = Repair(f"Use the shape of '{source.name}'", changes, safe=False)
    yield Finding("NS066", bundle.value_place("InputShape"), message, notes, repair)


def sized(name: str, shape: tuple[int, ...], layer: Layer) -> str:
    """Return a layer's declared size with its arithmetic."""
    if layer.auto:
        origin = f" ({layer.origin})" if layer.origin else ""
        return f"'{name}' is auto and has {counted(product(shape), 'node')}{origin}."
    if len(shape) == 1:
        return f"'{name}' is declared with {counted(shape[0], 'node')}."
    return f"'{name}' is declared {show(shape)}: {factors(shape)} = {product(shape)}."


@rule("NS122", "warning", on=BUNDLE, kinds=KERNEL_KINDS)
def other_order(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report an InputShape with the source's dimensions in another order."""
    shape, source = bundle.input_shape, bundle.source
    if not is_reordered(bundle) or shape is None or source is None or source.shape is None:
        return
    message = (
        "Same numbers as the source shape but in another order: "
        f"{show(shape)} against {show(source.shape)}?"
    )
    if len(shape) > 2:
        message += " Maps come first."
    note = Note(sized(source.name, source.shape, source), source.size_place)
    title = f"Reorder to {show(source.shape)}"
    repair = Repair(title, reordered(bundle, shape, source.shape), safe=False)
    yield Finding("NS122", bundle.value_place("InputShape"), message, [note], repair)


def is_reordered(bundle: Bundle) -> bool:
    """Return whether InputShape has the source's dimensions in another order."""
    shape, source = bundle.input_shape, bundle.source
    if shape is None or source is None or source.shape is None or shape == source.shape:
        return False
    return sorted(shape) == sorted(source.shape)


def reordered(bundle: Bundle, old: tuple[int, ...], new: tuple[int, ...]) -> list[Change]:
    """Reorder InputShape, and all tuples if they were valid in the old order."""
    changes = changed_tuple(bundle, "InputShape", new)
    if bundle.geometry is None:
        return changes
    free = list(range(len(old)))
    order = []
    for size in new:
        dimension = next(d for d in free if old[d] == size)
        free.remove(dimension)
        order.append(dimension)
    for name in ("KernelShape", "Stride", "Padding", "LowerPad", "UpperPad", "Sharing"):
        value = bundle.given[name].value if name in bundle.given else None
        if isinstance(value, tuple):
            changes += changed_tuple(bundle, name, tuple(value[d] for d in order))
    return changes


@rule("NS067", "error", on=BUNDLE, kinds=KERNEL_KINDS)
def kernel_too_large(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a kernel longer than its source."""
    yield from exceeding("NS067", bundle, "KernelShape", "InputShape")


@rule("NS068", "error", on=BUNDLE, kinds=KERNEL_KINDS)
def stride_too_large(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a stride that would skip cells between kernels."""
    yield from exceeding("NS068", bundle, "Stride", "KernelShape")


def exceeding(code: str, bundle: Bundle, name: str, limit: str) -> Iterator[Finding]:
    """Report each dimension in which one attribute is larger than the one that limits it."""
    for dimension, most, value in pairs(bundle, limit, name):
        if value > most >= 1:
            yield Finding(
                code,
                bundle.entry_place(name, dimension),
                f"{name}[{dimension}] = {value} exceeds {limit}[{dimension}] = {most}.",
                [Note(f"{limit}[{dimension}] is {most}.", bundle.entry_place(limit, dimension))],
                clamp(bundle, name, dimension, most),
            )


def entry_note(bundle: Bundle, name: str, dimension: int, entry: int) -> Note:
    """Return a note at the entry that another one must not exceed."""
    return Note(f"{name}[{dimension}] is {entry}.", bundle.entry_place(name, dimension))


def clamp(bundle: Bundle, name: str, dimension: int, limit: int) -> Repair:
    """Replace an entry by the largest valid one."""
    change = changed_entry(bundle, name, dimension, limit)
    return Repair(f"Replace by {limit}", [change], safe=False)


def has_two_paddings(bundle: Bundle) -> bool:
    """Return whether NS070 applies, so that the effect of the pads is undefined."""
    return "Padding" in bundle.given and ("LowerPad" in bundle.given or "UpperPad" in bundle.given)


@rule("NS071", "error", on=BUNDLE, kinds=KERNEL_KINDS)
def lower_pad_too_large(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a lower pad that puts the first kernel's centre outside the source."""
    for dimension, pad, kernel in pairs(bundle, "LowerPad", "KernelShape"):
        if 2 * pad >= kernel >= 1 and pad > 0 and not has_two_paddings(bundle):
            message = (
                f"LowerPad[{dimension}] = {pad} must be less than "
                f"KernelShape[{dimension}]/2 = {half(kernel)}."
            )
            repair = clamp(bundle, "LowerPad", dimension, (kernel - 1) // 2)
            yield Finding(
                "NS071", bundle.entry_place("LowerPad", dimension), message, repair=repair
            )


@rule("NS072", "error", on=BUNDLE, kinds=KERNEL_KINDS)
def upper_pad_too_large(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report an upper pad that puts the last kernel's centre outside the source."""
    for dimension, pad, kernel in pairs(bundle, "UpperPad", "KernelShape"):
        if 2 * pad > kernel >= 1 and not has_two_paddings(bundle):
            message = (
                f"UpperPad[{dimension}] = {pad} must be at most "
                f"KernelShape[{dimension}]/2 = {half(kernel)}."
            )
            repair = clamp(bundle, "UpperPad", dimension, kernel // 2)
            yield Finding(
                "NS072", bundle.entry_place("UpperPad", dimension), message, repair=repair
            )


def half(number: int) -> str:
    """Return half of a whole number, in real division."""
    return f"{number // 2}.5" if number % 2 else str(number // 2)


@rule("NS073", "error", on=BUNDLE, kinds=KERNEL_KINDS)
def unfilled(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report explicit pads that the last kernel does not cover."""
    figures = (bundle.input_shape, bundle.kernel_shape, bundle.stride, bundle.lower_pad)
    ranks = {len(figure) for figure in (*figures, bundle.upper_pad) if figure is not None}
    if None in (*figures, bundle.upper_pad) or len(ranks) != 1 or has_two_paddings(bundle):
        return
    rows = zip(*(figure or () for figure in (*figures, bundle.upper_pad)), strict=True)
    for dimension, (size, kernel, stride, lower, upper) in enumerate(rows):
        axis = Axis(size, kernel, max(stride, 1), lower=lower, upper=upper)
        valid = 1 <= stride <= kernel <= size and 0 <= 2 * lower < kernel and 2 * upper <= kernel
        if valid and upper >= 0 and not axis.filled:
            yield unfilled_dimension(bundle, dimension, axis, network)


def unfilled_dimension(bundle: Bundle, dimension: int, axis: Axis, network: Network) -> Finding:
    """Return the finding for one dimension, with pads that fill it."""
    message = (
        f"Padded input {axis.size} + {axis.lower} + {axis.upper} = {axis.padded_size} is not "
        f"filled: {counted(axis.count, 'kernel')} of {axis.kernel} with stride {axis.stride} "
        f"cover {axis.covered}."
    )
    name = "UpperPad" if axis.upper and "UpperPad" in bundle.given else "LowerPad"
    place = bundle.entry_place(name, dimension)
    notes = [Note(f"NodeCount[{dimension}] = {positions(axis)}", place)]
    return Finding("NS073", place, message, notes, filled(bundle, dimension, axis, network))


def filled(bundle: Bundle, dimension: int, axis: Axis, network: Network) -> Repair | None:
    """Return pads near the given ones that the kernels fill."""
    pads = filling_pads(axis)
    if pads is None:
        return None
    changes = []
    rank = len(bundle.input_shape or ())
    for name, old, new in zip(PADS, (axis.lower, axis.upper), pads, strict=True):
        if old == new:
            continue
        if name in bundle.given:
            changes.append(changed_entry(bundle, name, dimension, new))
        else:
            entries = single(new, dimension, rank)
            changes.append(added_attribute(bundle, name, entries, network))
    title = f"Use LowerPad {pads[0]} and UpperPad {pads[1]}, which the kernels fill"
    return Repair(title, changes, safe=False)


def single(entry: int, dimension: int, rank: int) -> tuple[int, ...]:
    """Return a tuple of zeros except for one entry."""
    return tuple(entry if d == dimension else 0 for d in range(rank))
