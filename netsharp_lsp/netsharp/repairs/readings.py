"""The tuples that may have been meant, and which of them agree with the declared sizes.

Pure arithmetic over the model: a reading is settled where it alone gives what the layer declares.
"""

from __future__ import annotations

from itertools import combinations
from itertools import product as combined

from netsharp_engine.geometry import product
from netsharp_lsp.netsharp.meaning.inforce import figures_over, geometry_of
from netsharp_lsp.netsharp.repairs.proposals import shapes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from netsharp_lsp.netsharp.meaning.model import Bundle, Geometry
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value

    #: The entries of a tuple.
    Entries = tuple[Value, ...]

#: What fills up a tuple that is too short.
FILLERS: dict[str, int | bool] = {
    "KernelShape": 1,
    "Stride": 1,
    "Padding": False,
    "LowerPad": 0,
    "UpperPad": 0,
    "Sharing": True,
    "MapCount": 1,
}
#: The figures of a bundle that attributes give.
FIGURES = {
    "InputShape": "input_shape",
    "KernelShape": "kernel_shape",
    "Stride": "stride",
    "Padding": "padding",
    "LowerPad": "lower_pad",
    "UpperPad": "upper_pad",
    "Sharing": "sharing",
    "MapCount": "map_count",
}
#: The most entries of a tuple whose readings are compared, and the most of all together.
LONGEST = 6
MOST = 400


def readings(name: str, entries: Entries, shape: tuple[int, ...]) -> list[Entries]:
    """Return the tuples of the right length that one of a wrong length may mean, each once.

    Too short: neutral entries anywhere among those given, the last one repeated, a kernel that
    covers all maps. Too long: as many as are superfluous left out, wherever.
    """
    rank = len(shape)
    if max(len(entries), rank) > LONGEST or not entries:
        return []
    if len(entries) > rank:
        return list(dict.fromkeys(combinations(entries, rank)))
    missing = rank - len(entries)
    found: list[Entries] = []
    for places in combinations(range(rank), missing):
        left = iter(entries)
        found.append(tuple(FILLERS[name] if d in places else next(left) for d in range(rank)))
    found.append(entries + (entries[-1],) * missing)
    if name == "KernelShape":
        found.append(shape[:missing] + entries)
    return list(dict.fromkeys(found))


def agreement(bundle: Bundle, geometry: Geometry | None) -> int:
    """Return the agreement of a geometry with the layer: 2 if the shape is equal, 1 if the number
    of nodes is, else 0.
    """
    layer = bundle.layer
    if geometry is None or layer.shape is None or layer.auto:
        return 0
    if layer.shape in shapes_of(geometry):
        return 2
    return int(product(geometry.output) == layer.nodes)


def with_figures(
    bundle: Bundle, values: Mapping[str, Entries], unnamed: int = 0
) -> Geometry | None:
    """Return the geometry of a bundle if some attributes had other values.

    At most `unnamed` of its attributes may have unknown names.
    """
    figures = {FIGURES[name]: value for name, value in values.items()}
    if "InputShape" in values and bundle.input_shape is None:
        over = figures_over(bundle, len(values["InputShape"]))
        figures |= {name: value for name, value in over.items() if value and name not in figures}
    return geometry_of(bundle, figures, unnamed)


def agrees(bundle: Bundle, values: Mapping[str, Entries], unnamed: int = 0) -> bool:
    """Return whether the declared size agrees with other values of attributes, or is unknown."""
    geometry = with_figures(bundle, values, unnamed)
    if geometry is None or bundle.layer.shape is None or bundle.layer.auto:
        return True
    return agreement(bundle, geometry) > 0


def settled(bundle: Bundle, candidates: Mapping[str, Sequence[Entries]]) -> dict[str, Entries]:
    """Return the readings of attributes that the declared size determines, without the others.

    They are tried together: where several attributes are at fault, one alone gives no geometry.
    """
    if not candidates or product(tuple(map(len, candidates.values()))) > MOST:
        return {}
    fitting: dict[int, list[tuple[Entries, ...]]] = {1: [], 2: []}
    for choice in combined(*candidates.values()):
        geometry = with_figures(bundle, dict(zip(candidates, choice, strict=True)))
        if degree := agreement(bundle, geometry):
            fitting[degree].append(choice)
    columns = zip(*(fitting[2] or fitting[1]), strict=True)
    return {
        name: column[0] for name, column in zip(candidates, columns, strict=False) if alike(column)
    }


def alike(values: Iterable[Entries]) -> bool:
    """Return whether all readings are the same."""
    return len(set(values)) == 1
