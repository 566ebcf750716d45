"""Rules about the positional arguments of functions."""

from __future__ import annotations

from netsharp_lsp.cntk.migration.rules import AUTOMATIC, CHOICE, PERSON, rule
from netsharp_lsp.cntk.ndl.syntax import Array, Option, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.migration.editing.edits import Edit, Todo
    from netsharp_lsp.cntk.migration.networks.names import CallSite
    from netsharp_lsp.cntk.migration.networks.network import MigratedNetwork

#: Functions whose inputs or dimensions are one array.
_ARRAYS = frozenset(("input", "parameter"))


def _sites(network: MigratedNetwork, *forms: str) -> Iterator[CallSite]:
    """Yield the calls of functions of some forms."""
    for site in network.names.calls:
        if site.function is not None and site.function.form in forms:
            yield site


def _count(site: CallSite) -> int:
    """Return the number of positional arguments, repeats included."""
    return sum(not isinstance(one, Option) for one in site.call.arguments)


def _in_braces(site: CallSite, code: str, head: str, several: bool) -> Iterator[Edit]:
    """Yield edits that put a call's arguments in braces and, if `several`, in one array."""
    text, given = site.text, site.arguments
    yield text.edit(code, site.call.name.end, given.open + 1, head + ("(" if several else ""))
    if several:
        for start, end in given.separators(0, len(given.positional)):
            yield text.edit(code, start, end, ":")
        after = given.span(given.positional[-1])[1]
        yield text.edit(code, after, after, ")")
    yield text.edit(code, given.close, given.close + 1, "}")


@rule("MG12", AUTOMATIC)
def dimensions_of_inputs(network: MigratedNetwork) -> Iterator[Edit]:
    """Put the arguments of inputs and matrices in braces; several dimensions are an array."""
    for site in _sites(network, "input", "image", "parameter"):
        assert site.function is not None
        count = _count(site)
        if count and site.function.form == "input":
            yield from _in_braces(site, "MG12", " {", count > 1)
        elif site.function.form == "image":
            yield from _in_braces(site, "MG12", " {", several=False)
            if count > 3:
                yield site.text.edit(
                    "MG12", *site.arguments.without(site.arguments.positional[3]), ""
                )
        elif count == 2:
            yield from _in_braces(site, "MG12", " {", several=False)


@rule("MG13", AUTOMATIC)
def vectors(network: MigratedNetwork) -> Iterator[Edit]:
    """Rewrite a parameter with one dimension."""
    for site in _sites(network, "parameter"):
        if _count(site) == 1:
            yield from _tensor(site, "MG13", several=False)


@rule("MG14", AUTOMATIC)
def tensors(network: MigratedNetwork) -> Iterator[Edit]:
    """Rewrite a parameter with three or more dimensions."""
    for site in _sites(network, "parameter"):
        if _count(site) > 2:
            yield from _tensor(site, "MG14", several=True)


def _tensor(site: CallSite, code: str, several: bool) -> Iterator[Edit]:
    for edit in _in_braces(site, code, "ParameterTensor {", several):
        if edit.text.startswith("ParameterTensor"):
            start, end = site.call.name.start, site.arguments.open + 1
            yield site.text.edit(code, start, end, edit.text)
        else:
            yield edit


@rule("MG19", AUTOMATIC)
def delays(network: MigratedNetwork) -> Iterator[Edit]:
    """Remove the columns and rename the old option of a delay."""
    for site in _sites(network, "delay"):
        given = site.arguments
        if len(given.positional) > 2:
            yield site.text.edit("MG19", *given.without(given.positional[1]), "")
        old = given.option("delaytime")
        if old is not None:
            yield site.text.edit("MG19", old.name.start, old.name.end, "timeStep")


@rule("MG26", CHOICE)
def flat_convolutions(network: MigratedNetwork) -> Iterator[Edit | Todo]:
    """Rewrite a convolution with two-dimensional windows."""
    for site in _sites(network, "convolution"):
        if len(site.arguments.positional) == 7:
            layouts = network.facts.layouts.get(site.place, set())
            if layouts <= {"CHW"}:
                yield from _convolution(network, site)
                continue
            message = (
                "This convolution has the layout HWC (legacy), for which BrainScript has no form. "
                'Give it imageLayout="cudnn" and convert its data to that layout.'
            )
            yield site.text.todo("MG26", (site.call.start, site.call.end), message, blocks=True)


def _convolution(network: MigratedNetwork, site: CallSite) -> Iterator[Edit]:
    given, text = site.arguments, site.text
    width, height, maps, across, down = (
        network.rendered(text, site.frame, one) for one in given.positional[2:]
    )
    channels = _channels(network, site, f"{width} * {height} * {maps}")
    padding = given.option("zeropadding")
    padded = "false"
    if padding is not None:
        padded = network.truth(text, site.frame, padding.value)
        yield text.edit("MG26", *given.without(padding), "")
    start = given.span(given.positional[2])[0]
    end = given.span(given.positional[6])[1]
    yield text.edit(
        "MG26",
        start,
        end,
        f"({width}:{height}:{channels}), mapDims={maps}, stride=({across}:{down}:{channels}), "
        f"autoPadding=({padded}:{padded}:false)",
    )


def _channels(network: MigratedNetwork, site: CallSite, kernel: str) -> str:
    """Return the channels of the input: a number, or derived from the weights where networks
    differ.
    """
    known = network.facts.channels.get(site.place, set())
    if len(known) == 1:
        return str(next(iter(known)))
    weights = network.rendered(site.text, site.frame, site.arguments.positional[0])
    return f"{weights}.dim / ({kernel})"


@rule("MG27", AUTOMATIC)
def shapes(network: MigratedNetwork) -> Iterator[Edit]:
    """Rewrite shapes in braces, and the kind of a pooling."""
    for site in _sites(network, "convolution", "pooling", "unpooling"):
        given = site.arguments
        for value in [*given.positional, *(option.value for option in given.options)]:
            if isinstance(value, Array):
                yield from _array(site, value)
        count = given.option("mapcount")
        if count is not None:
            yield site.text.edit("MG27", count.name.start, count.name.end, "mapDims")
        if site.function is not None and site.function.form == "pooling":
            yield from _kind(network, site)


def _array(site: CallSite, value: Array) -> Iterator[Edit]:
    text = site.text
    yield text.edit("MG27", value.start, value.start + 1, "(")
    yield text.edit("MG27", value.end - 1, value.end, ")")
    for one, other in zip(value.items, value.items[1:], strict=False):
        if other.start > one.end:
            yield text.edit("MG27", one.end, other.start, ":")


def _kind(network: MigratedNetwork, site: CallSite) -> Iterator[Edit]:
    positional = site.arguments.positional
    word = positional[1] if len(positional) > 1 else None
    if isinstance(word, Word) and not word.quoted and site.frame.find(word.text) is None:
        yield site.text.edit("MG27", word.start, word.end, f'"{word.text.lower()}"')


@rule("MG28", CHOICE)
def image_parameters(network: MigratedNetwork) -> Iterator[Edit | Todo]:
    """Rewrite `ImageParameter`."""
    for site in _sites(network, "image parameter"):
        given, text = site.arguments, site.text
        layout = given.option("imagelayout")
        word = layout.value if layout is not None else None
        if isinstance(word, Word) and not word.quoted and site.frame.find(word.text) is not None:
            message = "The layout of this parameter is given to its macro. Write it out here."
            yield text.todo("MG28", (site.call.start, site.call.end), message, blocks=True)
            continue
        is_chw = isinstance(word, Word) and word.text.lower() in ("chw", "cudnn")
        rendered = [network.rendered(text, site.frame, one) for one in given.positional]
        outer, image = rendered[:-3], rendered[-3:]
        ordered = image if is_chw else [image[2], *image[:2]]
        start, end = given.span(given.positional[0])[0], given.span(given.positional[-1])[1]
        yield text.edit("MG28", site.call.name.start, given.open + 1, "ParameterTensor {")
        yield text.edit("MG28", start, end, f"({':'.join([*outer, *ordered])})")
        yield text.edit("MG28", given.close, given.close + 1, "}")
        if layout is not None:
            yield text.edit("MG28", *given.without(layout), "")


@rule("MG29", AUTOMATIC)
def batch_normalization(network: MigratedNetwork) -> Iterator[Edit | Todo]:
    """Rewrite the options of `BatchNormalization`: CNTK 2.0 and later take `spatial` by name."""
    nodes = network.network.nodes.values()
    later = any(one.operation == "BatchNormalization" and len(one.inputs) > 5 for one in nodes)
    for site in _sites(network, "normalization"):
        given, text = site.arguments, site.text
        spatial = given.option("spatial")
        value = "false"
        if spatial is not None:
            value = network.truth(text, site.frame, spatial.value)
        dropped = [given.option("eval")]
        if later and spatial is not None:
            yield text.edit("MG29", *given.span(spatial), f"spatial={value}")
        elif not later:
            after = given.span(given.positional[-1])[1]
            yield text.edit("MG29", after, after, f", {value}")
            dropped.append(spatial)
        for option in dropped:
            if option is not None:
                yield text.edit("MG29", *given.without(option), "")
        engine = given.option("engine")
        if engine is not None:
            yield from _engine(network, site, engine)


def _engine(network: MigratedNetwork, site: CallSite, engine: Option) -> Iterator[Edit]:
    """Rewrite the engine as a truth value, which is a comparison where the engine is a name."""
    word, start, end = engine.value, *site.arguments.span(engine)
    if not isinstance(word, Word):
        return
    rendered = network.rendered(site.text, site.frame, word, as_text=True)
    truth = {'"cntk"': "true", '"cudnn"': "false"}.get(rendered.lower(), f'{rendered} == "cntk"')
    yield site.text.edit("MG29", start, end, f"useCntkEngine={truth}")


@rule("MG30", AUTOMATIC)
def row_stacks(network: MigratedNetwork) -> Iterator[Edit]:
    """Put the arguments of `RowStack` in an array."""
    for site in network.names.calls:
        if site.function is not None and site.function.name == "RowStack":
            for start, end in site.arguments.separators(0, len(site.arguments.positional)):
                yield site.text.edit("MG30", start, end, ":")


@rule("MG34", AUTOMATIC)
def repeats(network: MigratedNetwork) -> Iterator[Edit]:
    """Write out repeated arguments, and replace colons between arguments by commas."""
    for site in network.names.calls:
        function = site.function
        listed = function is not None and (
            function.name == "RowStack"
            or function.form == "input"
            or (function.form == "parameter" and _count(site) > 2)
        )
        yield from _repeated(network, site, ":" if listed else ", ")
        if listed:
            continue
        given = site.arguments
        for start, end in given.separators(0, len(given.positional)):
            if b":" in site.text.data[start:end]:
                yield site.text.edit("MG34", start, end, ", ")


def _repeated(network: MigratedNetwork, site: CallSite, joint: str) -> Iterator[Edit]:
    for value in site.arguments.positional:
        times = sum(one is value for one in site.call.arguments)
        start, end = site.arguments.span(value)
        if b"*" in site.text.data[value.end : end]:
            one = network.rendered(site.text, site.frame, value)
            yield site.text.edit("MG34", start, end, joint.join([one] * times))


@rule("MG35", PERSON)
def lost_characters(network: MigratedNetwork) -> Iterator[Edit | Todo]:
    """Remove a character that NDL takes for a separator."""
    for site in network.names.calls:
        at = site.call.swallowed
        if at is None:
            continue
        lost = site.text.data[at : at + 1].decode("utf-8", "replace")
        yield site.text.edit("MG35", at, at + 1, "")
        message = (
            f"NDL takes '{lost}' directly after the bracket for a separator and drops it. "
            "The migrated text keeps NDL's value; restore the character if it was meant."
        )
        yield site.text.todo("MG35", (at, at + 1), message)
