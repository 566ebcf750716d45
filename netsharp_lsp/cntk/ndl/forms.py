"""Creates the node of each function's call: attributes, shape, and which arguments are inputs.

An unknown value leaves the shape of its node unknown; whether inputs match is not checked here.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ndl.symbols import NUMBER
from netsharp_lsp.cntk.networks.node import PARAMETER
from netsharp_lsp.cntk.vocabulary import LAYOUTS, NDL_STARTS, RANDOM_STARTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.cntk.ndl.arguments import NdlArguments
    from netsharp_lsp.cntk.ndl.symbols import Item
    from netsharp_lsp.cntk.networks.node import Attribute, Node

    Maker = Callable[[NdlArguments, Node], list[Item]]

#: Initializations of parameters, by their names in lower case.
_INITS = {name.lower(): name for name in NDL_STARTS}
#: Attributes that no option of NDL changes.
_FIXED: dict[str, dict[str, Attribute]] = {
    "Times": {"outputRank": 1, "inferInputRankToMap": -1},
    "TransposeDimensions": {"axis1": 1, "axis2": 2},
    "EditDistanceError": {"subPen": 1.0, "delPen": 1.0, "insPen": 1.0, "squashInputs": False},
}
#: The target types of a cast, case-insensitive.
_PRECISIONS = ("float", "double", "float16")
#: Kinds of pooling, case-insensitive; an empty one is allowed.
_POOLS = ("", "none", "max", "average")


def make(arguments: NdlArguments, node: Node) -> list[Item]:
    """Set the attributes and shape of a node; return the arguments that are its inputs."""
    return _MAKERS[arguments.function.form](arguments, node)


def _plain(arguments: NdlArguments, node: Node) -> list[Item]:
    node.attributes.update(_FIXED.get(node.operation, {}))
    return arguments.positional


def _keep(node: Node, name: str, value: Attribute | None) -> None:
    """Set an attribute; without a value the shape is unknown."""
    if value is None:
        node.shape = None
    else:
        node.attributes[name] = value


def _layout(arguments: NdlArguments) -> str | None:
    text = arguments.option_word("imageLayout")
    if text is None or text in LAYOUTS:
        return None if text is None else LAYOUTS[text]
    at = arguments.given("imageLayout")
    message = f"'{text}' is not an image layout; there are CHW (or cudnn) and HWC (or legacy)."
    arguments.fault("option-value", message, at)
    return None


def _dimensions(arguments: NdlArguments, count: int) -> list[int] | None:
    sizes = [arguments.dimension(number) for number in range(count)]
    known = [size for size in sizes if size is not None]
    return known if len(known) == len(sizes) else None


def _arranged(sizes: list[int] | None, layout: str | None) -> tuple[int, ...] | None:
    """Return sizes whose last three are width, height and channels, in the order of a layout."""
    if sizes is None or layout is None:
        return None
    width, height, channels = sizes[-3:]
    image = (width, height, channels) if layout == "CHW" else (channels, width, height)
    return (*sizes[:-3], *image)


def _declare(node: Node, shape: tuple[int, ...] | None) -> None:
    node.shape = shape
    if shape is not None:
        node.attributes["shape"] = shape


def _input(arguments: NdlArguments, node: Node) -> list[Item]:
    node.attributes["dynamicAxis"] = arguments.option_word("dynamicAxis") or ""
    sizes = _dimensions(arguments, len(arguments.positional))
    _declare(node, None if sizes is None else tuple(sizes))
    return []


def _image(arguments: NdlArguments, node: Node) -> list[Item]:
    node.attributes["dynamicAxis"] = arguments.option_word("dynamicAxis") or ""
    _declare(node, _arranged(_dimensions(arguments, 3), _layout(arguments)))
    return []


def _parameter(arguments: NdlArguments, node: Node) -> list[Item]:
    sizes = _dimensions(arguments, len(arguments.positional))
    _declare(node, None if sizes is None else tuple(sizes))
    return _trained(arguments, node)


def _image_parameter(arguments: NdlArguments, node: Node) -> list[Item]:
    sizes = _dimensions(arguments, len(arguments.positional))
    _declare(node, _arranged(sizes, _layout(arguments)))
    return _trained(arguments, node)


def _trained(arguments: NdlArguments, node: Node) -> list[Item]:
    """Set how a parameter is trained."""
    old = ("needGradient", "needsGradient", "computeGradient")
    frozen = [arguments.option_truth(name) is False for name in old]
    rate = arguments.option_real("learningRateMultiplier")
    if any(frozen) or rate is not None:
        node.attributes["learningRateMultiplier"] = 0.0 if any(frozen) else float(rate or 0)
    return []


def start(arguments: NdlArguments, node: Node) -> None:
    """Set the initialization of a parameter, once all names are known."""
    if arguments.function.form == "constant":
        # A call without its argument has been reported.
        value = arguments.real(0) if arguments.positional else None
        if value is not None:
            node.attributes["initValue"] = value
        return
    text = arguments.option_word("init")
    init = _INITS.get((text or "uniform").lower())
    if init is None:
        names = ", ".join(sorted(_INITS.values(), key=str.lower))
        message = f"'{text}' is not an initialization of parameters; there are {names}."
        arguments.fault("option-value", message, arguments.given("init"))
    elif text is not None:
        node.attributes["init"] = "fromValue" if init == "fixedValue" else init
        _started(arguments, node, init)


def _started(arguments: NdlArguments, node: Node, init: str) -> None:
    if init in RANDOM_STARTS:
        for name, value in (
            ("randomSeed", arguments.option_whole("randomSeed")),
            ("initValueScale", arguments.option_real("initValueScale")),
            ("initFilterRank", 0),
            ("initOutputRank", 1),
            ("initOnCPUOnly", arguments.option_truth("initOnCPUOnly")),
        ):
            if value is not None:
                node.attributes[name] = value
    elif init == "fixedValue":
        value = arguments.option_real("value")
        if value is not None:
            node.attributes["initValue"] = value
    elif init == "bilinear":
        for name in ("kernelWidth", "kernelHeight"):
            size = arguments.option_dimension(name)
            if size is not None:
                node.attributes[name] = size
    else:
        _from_file(arguments, node)


def _from_file(arguments: NdlArguments, node: Node) -> None:
    path = arguments.option_word("initFromFilePath")
    if path:
        node.attributes["initFromFilePath"] = path
    elif path is not None:
        message = "'init = fromFile' needs 'initFromFilePath'."
        arguments.fault("option-missing", message, arguments.given("init"))


def _constant(arguments: NdlArguments, node: Node) -> list[Item]:
    rows, columns = arguments.option_dimension("rows"), arguments.option_dimension("cols")
    _declare(node, None if rows is None or columns is None else (rows, columns))
    node.attributes.update(learningRateMultiplier=0.0, init="fromValue")
    return []


def _row_slice(arguments: NdlArguments, node: Node) -> list[Item]:
    first, count = arguments.dimension(0), arguments.dimension(1)
    _keep(node, "beginIndex", first)
    _keep(node, "endIndex", None if first is None or count is None else first + count)
    node.attributes["axis"] = 1
    return arguments.positional[2:]


def _row_repeat(arguments: NdlArguments, node: Node) -> list[Item]:
    _keep(node, "numRepeats", arguments.dimension(1))
    return arguments.positional[:1]


def _reshape(arguments: NdlArguments, node: Node) -> list[Item]:
    _keep(node, "numRows", arguments.dimension(1))
    for name in ("imageWidth", "imageHeight", "imageChannels"):
        _keep(node, name, arguments.option_dimension(name))
    layout = _layout(arguments)
    if layout is None or layout == "CHW":
        _keep(node, "imageLayout", layout)
    return arguments.positional[:1]


def _delay(arguments: NdlArguments, node: Node) -> list[Item]:
    rows = arguments.dimension(0)
    node.shape = None if rows is None else (rows,)
    _keep(node, "defaultHiddenActivation", arguments.option_real("defaultHiddenActivity"))
    steps = arguments.option_dimension("timeStep")
    if steps == 1:
        steps = arguments.option_dimension("delayTime")
    _keep(node, "timeStep", steps)
    return arguments.positional[-1:]


def _windows(arguments: NdlArguments, node: Node) -> None:
    """Set kernel, strides, padding and layout of a node that moves a window over a tensor."""
    _keep(node, "kernelShape", arguments.shape(2))
    _keep(node, "strideShape", arguments.option_shape("stride"))
    _keep(node, "dimPadding", arguments.option_truths("autoPadding"))
    _keep(node, "dimPadLower", arguments.option_shape("lowerPad"))
    _keep(node, "dimPadUpper", arguments.option_shape("upperPad"))
    _keep(node, "imageLayout", _layout(arguments))


def _convolution(arguments: NdlArguments, node: Node) -> list[Item]:
    _keep(node, "maxTempMemSizeInSamples", arguments.option_dimension("maxTempMemSizeInSamples"))
    if len(arguments.positional) == 7:
        _flat_convolution(arguments, node)
        return arguments.positional[:2]
    _windows(arguments, node)
    _keep(node, "mapCount", arguments.option_shape("mapCount"))
    _keep(node, "dimSharing", arguments.option_truths("sharing"))
    _keep(node, "transpose", arguments.option_truth("transpose"))
    if arguments.given("outputShape"):
        _keep(node, "dimOutputShape", arguments.option_shape("outputShape"))
    return arguments.positional[:2]


def _flat_convolution(arguments: NdlArguments, node: Node) -> None:
    """Set the older form of a convolution: width and height only; the depth is that of the
    input.
    """
    sizes = [arguments.dimension(number) for number in range(2, 7)]
    width, height, maps, across, down = (size or 0 for size in sizes)
    if None in sizes:
        node.shape = None
    padded = arguments.option_truth("zeroPadding")
    # The older form has the older layout by default.
    layout = _layout(arguments) if arguments.given("imageLayout") else "HWC"
    node.attributes.update(
        form="2D",
        kernelShape=(width, height, 1),
        mapCount=(maps,),
        strideShape=(across, down, 1),
        dimSharing=(True,),
        dimPadLower=(0,),
        dimPadUpper=(0,),
        transpose=False,
    )
    _keep(node, "dimPadding", None if padded is None else (padded, padded, False))
    _keep(node, "imageLayout", layout)


def settle(node: Node) -> None:
    """Convert the older form of a convolution to the newer one, once its input is known."""
    if node.attributes.pop("form", None) is None or len(node.inputs) < 2:
        return
    image = node.inputs[1].shape or ()
    if len(image) != 3:
        return
    depth = image[0] if node.text("imageLayout") == "HWC" else image[2]
    for name in ("kernelShape", "strideShape"):
        node.attributes[name] = (*node.dimensions(name)[:2], depth)


def _pooling(arguments: NdlArguments, node: Node) -> list[Item]:
    pool = arguments.word(1)
    if pool is None:
        node.shape = None
    elif pool.lower() in _POOLS:
        node.attributes["pool"] = pool.lower()
    else:
        message = f"'{pool}' is not a kind of pooling; there are max and average."
        arguments.fault("option-value", message, arguments.positional[1])
        node.shape = None
    _windows(arguments, node)
    return arguments.positional[:1]


def _unpooling(arguments: NdlArguments, node: Node) -> list[Item]:
    _windows(arguments, node)
    return arguments.positional[:2]


def _old_pooling(arguments: NdlArguments, node: Node) -> list[Item]:
    names = ("windowWidth", "windowHeight", "horizontalSubsample", "verticalSubsample")
    for number, name in enumerate(names, 1):
        _keep(node, name, arguments.dimension(number))
    _keep(node, "imageLayout", _layout(arguments))
    return arguments.positional[:1]


def _normalization(arguments: NdlArguments, node: Node) -> list[Item]:
    _keep(node, "spatial", arguments.option_truth("spatial"))
    for name in ("normalizationTimeConstant", "blendTimeConstant", "epsilon"):
        _keep(node, name, arguments.option_real(name))
    engine = arguments.option_word("engine")
    if engine is not None and engine.lower() not in ("cntk", "cudnn"):
        message = f"'{engine}' is not an engine of normalization; there are cntk and cudnn."
        arguments.fault("option-value", message, arguments.given("engine"))
    elif engine is not None:
        node.attributes["useCntkEngine"] = engine.lower() == "cntk"
    _keep(node, "imageLayout", _layout(arguments))
    if arguments.given("disableRegularization"):
        _keep(node, "disableRegularization", arguments.option_truth("disableRegularization"))
    return arguments.positional


def _crop(arguments: NdlArguments, node: Node) -> list[Item]:
    given = arguments.positional
    if len(given) < 4 or given[2].kind != NUMBER:
        return given
    _keep(node, "xOffset", arguments.dimension(2))
    _keep(node, "yOffset", arguments.dimension(3))
    return given[:2]


def _cast(arguments: NdlArguments, node: Node) -> list[Item]:
    precision = arguments.option_word("precision")
    if precision is not None and precision.lower() not in _PRECISIONS:
        message = (
            f"'{precision}' is not a precision of a cast; there are float, double and float16."
        )
        arguments.fault("option-value", message, arguments.given("precision"))
    _keep(node, "precision", precision)
    return arguments.positional


def _missing(arguments: NdlArguments, node: Node) -> list[Item]:
    name = arguments.function.name
    message = f"NDL has the name '{name}', but CNTK cannot build the node from it."
    arguments.fault("no-constructor", message)
    node.shape = None
    return arguments.positional


_MAKERS: dict[str, Maker] = {
    "plain": _plain,
    "early": _plain,
    "input": _input,
    "image": _image,
    "parameter": _parameter,
    "image parameter": _image_parameter,
    "constant": _constant,
    "row slice": _row_slice,
    "row repeat": _row_repeat,
    "reshape": _reshape,
    "delay": _delay,
    "convolution": _convolution,
    "pooling": _pooling,
    "unpooling": _unpooling,
    "old pooling": _old_pooling,
    "normalization": _normalization,
    "crop": _crop,
    "cast": _cast,
    "missing": _missing,
}
#: Forms whose inputs are created before their node; those of all others are created after it.
EARLY = frozenset(("row slice", "row repeat", "reshape", "delay", "crop", "early"))


def is_parameter(node: Node) -> bool:
    """Return whether a node is a parameter, which has an initialization."""
    return node.operation == PARAMETER
