"""The table of bundle attributes: which bundles take them, of what type, with what default.

Data only. Source: the Net# guide, "Convolutional bundles".
"""

from __future__ import annotations

CONVOLVE = "convolve"
POOLS = ("max pool", "mean pool")
NORM = "response norm"
KERNEL_KINDS = (CONVOLVE, *POOLS, NORM)
FILTERED = ("where",)
WEIGHTED_KINDS = ("all", "where", CONVOLVE)


class AttributeForm:
    """One attribute.

    `kinds`: the bundle kinds that take it. `required`: the kinds that must have it.
    `element`: "integer", "boolean" or "real". `shape`: "tuple" (one entry per dimension),
    "spread" (a tuple, or one value for all dimensions), "scalar", or "list" (any length).
    `default` and `constraint` are words for people.
    """

    __slots__ = ("constraint", "default", "element", "kinds", "name", "required", "shape")

    def __init__(
        self,
        name: str,
        kinds: tuple[str, ...],
        element: str,
        shape: str,
        default: str,
        constraint: str,
        required: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.kinds = kinds
        self.element = element
        self.shape = shape
        self.default = default
        self.constraint = constraint
        self.required = required


FORMS = (
    AttributeForm(
        "InputShape",
        KERNEL_KINDS,
        "integer",
        "tuple",
        "none",
        "product = nodes of the source",
        KERNEL_KINDS,
    ),
    AttributeForm(
        "KernelShape",
        KERNEL_KINDS,
        "integer",
        "tuple",
        "none",
        "KernelShape[d] <= InputShape[d]",
        KERNEL_KINDS,
    ),
    AttributeForm(
        "Stride", KERNEL_KINDS, "integer", "tuple", "all 1", "Stride[d] <= KernelShape[d]"
    ),
    AttributeForm(
        "Padding", KERNEL_KINDS, "boolean", "spread", "false", "excludes LowerPad and UpperPad"
    ),
    AttributeForm(
        "LowerPad", KERNEL_KINDS, "integer", "tuple", "all 0", "LowerPad[d] < KernelShape[d]/2"
    ),
    AttributeForm(
        "UpperPad", KERNEL_KINDS, "integer", "tuple", "all 0", "UpperPad[d] <= KernelShape[d]/2"
    ),
    AttributeForm("Sharing", (CONVOLVE,), "boolean", "spread", "true", "any"),
    AttributeForm(
        "MapCount", (CONVOLVE,), "integer", "spread", "1", "one value m means [m, 1, ..., 1]"
    ),
    AttributeForm(
        "Weights",
        WEIGHTED_KINDS,
        "real",
        "list",
        "random",
        "one value per edge, or kernels x (cells + 1 bias)",
    ),
    AttributeForm("Alpha", (NORM,), "real", "scalar", "none", "Alpha >= 0", (NORM,)),
    AttributeForm("Beta", (NORM,), "real", "scalar", "none", "Beta > 0", (NORM,)),
    AttributeForm("Offset", (NORM,), "real", "scalar", "1", "Offset > 0"),
    AttributeForm("AvgOverFullKernel", (NORM,), "boolean", "scalar", "false", "any"),
)

#: What Keras and PyTorch call padding, by lower-case word.
PADDING_WORDS = {"same": "true", "valid": "false"}

#: Every attribute of a bundle by its lower-case name.
BY_NAME = {form.name.lower(): form for form in FORMS}

#: The attributes in a layer's own body.
LAYER_FORMS = {
    "biases": AttributeForm("Biases", (), "real", "list", "random", "one value per node")
}
