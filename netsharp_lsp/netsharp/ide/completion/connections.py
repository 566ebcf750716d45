"""Proposals for connections: sources that close no cycle, kinds, the contents of a body."""

from __future__ import annotations

from operator import attrgetter

from netsharp_lsp.netsharp.ide.completion.nearness import chosen, nearest
from netsharp_lsp.netsharp.ide.completion.place import Proposal
from netsharp_lsp.netsharp.ide.completion.templates import Template, block
from netsharp_lsp.netsharp.ide.meanings.counting import counted
from netsharp_lsp.netsharp.meaning.values.evaluate import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.netsharp.ide.completion.place import Cursor
    from netsharp_lsp.netsharp.meaning.model import Layer
    from netsharp_lsp.netsharp.meaning.network import Network

#: Kinds with kernels, and what a layer fed by one is called.
KERNEL_WORDS = {
    "convolve": "Conv",
    "max pool": "Pool",
    "mean pool": "Pool",
    "response norm": "Norm",
}
KIND_DETAILS = {
    "all": "every node with every node",
    "where": "the nodes that a condition names",
    "convolve": "trained kernels over the source",
    "max pool": "the largest value under each kernel",
    "mean pool": "the mean under each kernel",
    "response norm": "values against their neighbours",
}


def fed_by(layer: Layer, network: Network) -> set[Layer]:
    """Return the layers that a layer's values reach, itself included."""
    found, pending = {layer}, [layer]
    while pending:
        for bundle in network.reads_of(pending.pop()):
            if bundle.layer not in found:
                found.add(bundle.layer)
                pending.append(bundle.layer)
    return found


def layer_detail(layer: Layer) -> str:
    """Return a layer in a few words."""
    size = "auto" if layer.shape is None else show(layer.shape)
    return f"{layer.kind} {size}"


def sources(cursor: Cursor) -> Iterator[Proposal]:
    """Yield layers that may be read: no output, not the layer itself, none that it feeds."""
    candidates = nearest(cursor, cursor.network.all_layers)
    for other in chosen(cursor, candidates, attrgetter("name"), _valid_sources(cursor)):
        yield Proposal(other.name, "layer", detail=layer_detail(other), topic=f"layer:{other.name}")


def _valid_sources(cursor: Cursor) -> Callable[[Layer], bool]:
    """Return a predicate of the layers that the one at the cursor may read.

    The layers that it feeds are searched only if they matter.
    """
    layer, network = cursor.layer, cursor.network
    # Where all read upwards, nothing above a layer depends on it.
    first = layer.order if layer is not None and not network.reads_ahead else 0
    reached: set[Layer] = set()

    def valid(other: Layer) -> bool:
        if other is layer or other.kind == "output":
            return False
        if layer is None or other.order < first:
            return True
        if not reached:
            reached.update(fed_by(layer, network))
        return other not in reached

    return valid


def kinds(cursor: Cursor) -> Iterator[Proposal]:
    """Yield the kinds of connection, those with kernels as whole blocks."""
    end = "" if cursor.text_after[:1] == b";" else ";"
    yield Proposal(
        "all", "keyword", Template(f"all{end}"), detail=KIND_DETAILS["all"], topic="keyword:all"
    )
    for kind in KERNEL_WORDS:
        yield _with_block(cursor, kind, f"{kind} ")
    yield _where(cursor, end)


def _where(cursor: Cursor, end: str) -> Proposal:
    template = Template("where (s, d) => ").hole("s[0] == d[0]").add(end)
    return Proposal(
        "where", "keyword", template, detail=KIND_DETAILS["where"], topic="keyword:where"
    )


def _with_block(cursor: Cursor, kind: str, words: str) -> Proposal:
    """Return a kind with its block, unless there is a block already."""
    if cursor.text_after[:1] == b"{":
        template = Template(words.rstrip())
    else:
        template = block(Template(words.rstrip()), kind, cursor.source, cursor.declared)
    return Proposal(
        words.strip(), "keyword", template, detail=KIND_DETAILS[kind], topic=f"keyword:{kind}"
    )


def pools(cursor: Cursor) -> Iterator[Proposal]:
    """Yield proposals after `max` or `mean`."""
    yield _with_block(cursor, f"{cursor.situation.kind} pool", "pool")


def norms(cursor: Cursor) -> Iterator[Proposal]:
    """Yield proposals after `response`."""
    yield _with_block(cursor, "response norm", "norm")


def opened(cursor: Cursor) -> Iterator[Proposal]:
    """Yield the block after a kind."""
    kind = cursor.situation.kind
    if kind in KERNEL_WORDS:
        template = block(Template(), kind, cursor.source, cursor.declared)
        yield Proposal(
            "{ … }", "snippet", template, detail="its attributes", topic=f"keyword:{kind}"
        )


def a_connection(cursor: Cursor) -> Proposal:
    """Return the word that begins a connection."""
    template = Template(f"from{cursor.blank}")
    return Proposal("from", "keyword", template, detail="a connection", topic="keyword:from")


def bodies(cursor: Cursor) -> Iterator[Proposal]:
    """Yield proposals in the braces of a layer."""
    yield a_connection(cursor)
    layer = cursor.layer
    may = layer is not None and (layer.has_biases or not layer.bundles)
    if layer is not None and may and layer.biases_given is None:
        nodes = counted(layer.nodes, "value") if layer.nodes is not None else "one a node"
        template = Template("Biases = ").hole("Name").add(";")
        yield Proposal("Biases", "attribute", template, detail=nodes, topic="attribute:Biases")
