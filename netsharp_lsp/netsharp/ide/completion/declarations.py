"""Proposals for declarations: keywords, whole layers and networks, sizes, activations."""

from __future__ import annotations

from netsharp_engine.activations import ACTIVATIONS, NAMES
from netsharp_lsp.netsharp.ide.completion.connections import (
    KERNEL_WORDS,
    KIND_DETAILS,
    a_connection,
)
from netsharp_lsp.netsharp.ide.completion.place import Proposal
from netsharp_lsp.netsharp.ide.completion.templates import Template, block, output_of
from netsharp_lsp.netsharp.ide.meanings.glossary import ACTIVATION_NOTES
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.repairs.proposals import shapes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.ide.completion.place import Cursor
    from netsharp_lsp.netsharp.meaning.model import Layer

SECTION_DETAILS = {
    "input": "a layer that takes features",
    "hidden": "a trained layer inside",
    "output": "the layer with the answer",
    "const": "a named value",
    "share": "one set of weights for several",
}
#: The activations that come first: in hidden layers, and in the output by its task.
HIDDEN_USUAL = ("rlinear", "sigmoid", "tanh")
OUTPUT_USUAL = {
    "binary": ("sigmoid", "softmax"),
    "multiclass": ("softmax", "sigmoid"),
    "regression": ("linear", "tanh"),
}


def sections(cursor: Cursor) -> Iterator[Proposal]:
    """Yield declarations at the top of the text, or after one that ended; none within one."""
    if not _begins(cursor):
        return
    network = cursor.network
    if not network.all_layers:
        yield from networks()
    words = [word for word in SECTION_DETAILS if word != "output" or not network.outputs]
    if not network.inputs:
        words.sort(key=lambda word: word != "input")
    for word in words:
        yield Proposal(
            word,
            "keyword",
            Template(word + cursor.blank),
            detail=SECTION_DETAILS[word],
            topic=f"keyword:{word}",
        )
    yield from _layers(cursor)
    if not network.outputs:
        yield _output(cursor)
    yield _snippet(
        "input …", Template("input ").hole(cursor.free_name("Data")).add(" [").hole("10").add("];")
    )
    yield _snippet("const …", Template("const ").hole("Name").add(" = ").hole("1").add(";"))
    yield _snippet("share …", Template("share { ").hole("H1").add(", ").hole("H2").add(" }"))


def _begins(cursor: Cursor) -> bool:
    """Return whether a declaration may begin at the cursor.

    Unparsed text before it is part of the declaration before, which continues after a comma or an
    open bracket, and else to the end of its line.
    """
    before = cursor.situation.before
    if before in ("", ";", "}"):
        return True
    data, start = cursor.network.specification.data, cursor.situation.start
    is_first = not data[data.rfind(b"\n", 0, start) + 1 : start].strip()
    return is_first and (before[-1:].isalnum() or before[-1:] in "_])")


def _snippet(label: str, template: Template, detail: str = "") -> Proposal:
    word = label.partition(" … ")[2] or label.split()[0]
    return Proposal(label, "snippet", template, detail=detail, topic=f"keyword:{word}")


def _layers(cursor: Cursor) -> Iterator[Proposal]:
    """Yield whole hidden layers that read the layer above."""
    source = cursor.nearest_source()
    name = source.name if source is not None else "Data"
    full = Template("hidden ").hole(cursor.free_name("Hidden")).add(" [").hole("100").add("] ")
    full.hole("rlinear").add(" from ").hole(name).add(" all;")
    yield _snippet("hidden … all", full, "reads every node of a layer")
    filtered = Template("hidden ").hole(cursor.free_name("Filtered")).add(" [").hole("10").add("]")
    filtered.add(" from ").hole(name).add(" where (s, d) => ").hole("s[0] == d[0]").add(";")
    yield _snippet("hidden … where", filtered, "reads the nodes that a condition names")
    for kind, stem in KERNEL_WORDS.items():
        template = _kernel_layer(cursor, kind, stem, source)
        yield _snippet(f"hidden … {kind}", template, KIND_DETAILS[kind])


def _kernel_layer(cursor: Cursor, kind: str, stem: str, source: Layer | None) -> Template:
    template = Template("hidden ").hole(cursor.free_name(stem)).add(" ")
    template.shape(output_of(kind, source))
    if kind == "convolve":
        template.add(" ").hole("rlinear")
    template.add(" from ").hole(source.name if source is not None else "Data").add(f" {kind}")
    return block(template, kind, source)


def _output(cursor: Cursor) -> Proposal:
    source = cursor.nearest_source()
    template = Template("output ").hole(cursor.free_name("Result")).add(" ").hole("auto").add(" ")
    template.hole(OUTPUT_USUAL[cursor.network.context.task or "binary"][0])
    template.add(" from ").hole(source.name if source is not None else "Hidden").add(" all;")
    return _snippet("output …", template)


def networks() -> Iterator[Proposal]:
    """Yield whole networks, for a text without a layer."""
    plain = Template("input Data auto;\nhidden Hidden [").hole("100").add("] ").hole("sigmoid")
    plain.add(" from Data all;\noutput Result auto ").hole("sigmoid").add(" from Hidden all;\n")
    yield Proposal("network, one hidden layer", "snippet", plain, detail="any table of features")
    regression = Template("input Data auto;\nhidden Hidden [").hole("100").add("] ").hole("tanh")
    regression.add(" from Data all;\noutput Result [1] linear from Hidden all;\n")
    yield Proposal("network, regression", "snippet", regression, detail="one number as the answer")
    image = Template("input Image [28, 28];\nhidden Conv [").hole("5").add(", 12, 12] rlinear ")
    image.add("from Image convolve {\n  InputShape = [28, 28];\n  KernelShape = [5, 5];\n")
    image.add("  Stride = [2, 2];\n  MapCount = ").hole("5").add(";\n}\nhidden Hidden [").hole(
        "100"
    )
    image.add("] rlinear from Conv all;\noutput Result [").hole("10")
    image.add("] softmax from Hidden all;\n")
    yield Proposal("network, convolution", "snippet", image, detail="images of 28 x 28 cells")


def sizes(cursor: Cursor) -> Iterator[Proposal]:
    """Yield sizes: the computed one first, where the connection gives it."""
    layer = cursor.layer
    bundles = layer.bundles if layer is not None else []
    for bundle in bundles:
        if bundle.geometry is not None:
            for shape in dict.fromkeys(shapes_of(bundle.geometry)):
                yield Proposal(show(shape), "value", detail="computed from the connection")
            return
    auto = Proposal("auto", "keyword", detail="from the data", topic="keyword:auto")
    written = Proposal("[…]", "value", Template("[").hole("100").add("]"), detail="sizes")
    # Data seldom determines how large a hidden layer is.
    yield from (written, auto) if cursor.situation.section == "hidden" else (auto, written)


def functions_of_layers(cursor: Cursor) -> Iterator[Proposal]:
    """Yield activations or the connection, after a size."""
    task = cursor.network.context.task or "multiclass"
    first = OUTPUT_USUAL[task] if cursor.situation.section == "output" else HIDDEN_USUAL
    for name in (*first, *(name for name in NAMES if name not in first)):
        derivative, _ = ACTIVATION_NOTES[name]
        yield Proposal(
            name,
            "activation",
            Template(name + cursor.blank),
            detail=f"{ACTIVATIONS[name].formula}, derivative {derivative}",
            topic=f"activation:{name}",
        )
    yield from only_from(cursor)


def only_from(cursor: Cursor) -> Iterator[Proposal]:
    """Yield the connection, after an activation."""
    yield a_connection(cursor)
    source = cursor.nearest_source()
    if source is not None and not cursor.text_after:
        template = Template(f"from{cursor.blank}").hole(source.name).add(" all;")
        yield Proposal("from … all", "snippet", template, topic="keyword:all")
        body = Template("{\n  from ").hole(source.name).add(" all;\n}")
        yield Proposal("{ from … }", "snippet", body, topic="keyword:from")


def ends(cursor: Cursor) -> Iterator[Proposal]:
    """Yield a missing `;`; on a new line the next declaration may begin."""
    data, start = cursor.network.specification.data, cursor.situation.start
    blank = data[:start].rstrip()
    if b"\n" in data[len(blank) : start] or b"\r" in data[len(blank) : start]:
        yield from sections(cursor)
