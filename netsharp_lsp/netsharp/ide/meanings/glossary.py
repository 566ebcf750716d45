"""The words of Net# and their meanings, for people: keywords, attributes, activations, functions.

Data, and its rendering as Markdown; it knows no specification. Sections are those of the Net#
guide.
"""

from __future__ import annotations

from netsharp_engine.activations import ACTIVATIONS
from netsharp_lsp.netsharp.meaning.inforce import wanted
from netsharp_lsp.netsharp.meaning.values.attributes import BY_NAME, LAYER_FORMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.netsharp.meaning.values.attributes import AttributeForm


class Entry:
    """One word: its form, its meaning, and the guide's section about it."""

    __slots__ = ("form", "meaning", "section")

    def __init__(self, form: str, meaning: str, section: str) -> None:
        self.form = form
        self.meaning = meaning
        self.section = section

    def markdown(self) -> str:
        """Return the entry as Markdown."""
        return f"```netsharp\n{self.form}\n```\n{self.meaning}\n\n*Net# guide: {self.section}*"


KEYWORDS = {
    "const": Entry(
        "const Name = value;",
        "Names a value: a number, `true` or `false`, a tuple, or an expression of these and of "
        "other constants. Several go into braces: `const { X = 28; Y = 4; }`. Constants may "
        "be declared anywhere, also after their use.",
        "Constant declaration",
    ),
    "input": Entry(
        "input Name [sizes] | auto;",
        "Declares a layer that takes features of the data; it has nothing to train. Several "
        "inputs split the features in the order in which they are declared.",
        "Layer declaration",
    ),
    "hidden": Entry(
        "hidden Name [sizes] | auto activation from Source ...;",
        "Declares a trained layer between input and output. Each node is the activation of the "
        "sum of the values from its connections, plus its bias.",
        "Layer declaration",
    ),
    "output": Entry(
        "output Name [sizes] | auto activation from Source ...;",
        "Declares the layer whose values are the answer. There is exactly one, and nothing "
        "reads from it.",
        "Layer declaration",
    ),
    "share": Entry(
        "share { H1, H2 }   share { A => H1, B => H2 }   share { 1 => H1, 1 => H2 }",
        "Gives layers, connections (`Source => Layer`) or biases (`1 => Layer`) one set of "
        "parameters. What is shared must have the same structure and counts once.",
        "Share declaration",
    ),
    "auto": Entry(
        "auto",
        "Leaves the number of nodes to the data: as many as there are features (input), hidden "
        "nodes asked for (hidden), or outputs that the task needs (output).",
        "Layer declaration",
    ),
    "from": Entry(
        "from Source all | where | convolve | max pool | mean pool | response norm",
        "Begins a connection to this layer. Several connections into one layer add up before "
        "the activation.",
        "Connection declaration",
    ),
    "all": Entry(
        "from Source all;",
        "Connects every node of the source with every node of this layer, each with a weight "
        "of its own.",
        "Full bundles",
    ),
    "where": Entry(
        "from Source where (s, d) => condition;",
        "Connects the pairs of nodes for which the condition is true. `s` is the index of the "
        "node in the source, `d` of the node in this layer, each with one entry a dimension, "
        "counted from 0. Each edge has a weight.",
        "Filtered bundles",
    ),
    "convolve": Entry(
        "from Source convolve { InputShape = [...]; KernelShape = [...]; ... }",
        "Slides trained kernels over the source. A kernel is used again at every position, "
        "unless `Sharing` says otherwise, and has a bias of its own.",
        "Convolutional bundles",
    ),
    "max pool": Entry(
        "from Source max pool { InputShape = [...]; KernelShape = [...]; ... }",
        "Takes the largest value under each kernel; cells in a pad are left out. Nothing is "
        "trained.",
        "Pooling bundles",
    ),
    "mean pool": Entry(
        "from Source mean pool { InputShape = [...]; KernelShape = [...]; ... }",
        "Takes the mean of the values under each kernel; cells in a pad are left out. Nothing "
        "is trained.",
        "Pooling bundles",
    ),
    "response norm": Entry(
        "from Source response norm { InputShape = [...]; KernelShape = [...]; Alpha = a; ... }",
        "Divides each value by what its neighbours make together: "
        "`x * (Offset + Alpha / N * sum of squares)^-Beta` over the N cells of the kernel. "
        "Nothing is trained.",
        "Response normalization bundles",
    ),
    "true": Entry("true", "The truth value of a switch that is on.", "Constant declaration"),
    "false": Entry("false", "The truth value of a switch that is off.", "Constant declaration"),
}
#: Words of a kind of connection that has two.
PARTS = {
    "max": "max pool",
    "mean": "mean pool",
    "pool": "max pool",
    "response": "response norm",
    "norm": "response norm",
}

ATTRIBUTES = {
    "InputShape": "How the source's nodes are laid out for this connection. The number of entries "
    "is the arity: every other tuple has as many.",
    "KernelShape": "How many cells a kernel covers in each dimension.",
    "Stride": "How many cells lie between one kernel and the next in each dimension.",
    "Padding": "Whether cells of value 0 are put around the source, so that a kernel's centre "
    "reaches the first and the last cell.",
    "LowerPad": "How many cells of value 0 are put before the source in each dimension.",
    "UpperPad": "How many cells of value 0 are put after the source in each dimension.",
    "Sharing": "Whether all positions along a dimension use the same kernel.",
    "MapCount": "How many feature maps there are: kernels that look at the same cells.",
    "Weights": "The initial weights; drawn at random without it.",
    "Alpha": "How strongly neighbours count; it is divided by the number of cells in the kernel.",
    "Beta": "The power to which the neighbours' sum is raised.",
    "Offset": "What is added to the neighbours' sum (k in the guide's formula).",
    "AvgOverFullKernel": "Whether the sum is divided by the whole kernel's cells at the edges, "
    "too, instead of by those that exist.",
    "Biases": "The initial biases of the layer, one a node; drawn at random without it.",
}
NORM_ONLY = ("Alpha", "Beta", "Offset", "AvgOverFullKernel")

#: Derivative by the output y or input x, and what is worth knowing.
ACTIVATION_NOTES = {
    "sigmoid": ("y (1 - y)", "Values between 0 and 1; the default of classification."),
    "linear": ("1", "The sum as it is; the default of a regression's output."),
    "softmax": (
        "y_i ([i = j] - y_j)",
        "Over all nodes of the layer, which then add up to 1: for the output of several classes. "
        "Under cross-entropy the gradient is `y - t`, t being the target.",
    ),
    "rlinear": ("1 where y > 0, else 0", "Rectified linear (ReLU)."),
    "square": ("2 x", "Grows fast: keep its sums small."),
    "sqrt": ("1 / (2 y) where y > 0, else 0", "Negative sums become 0 and learn nothing there."),
    "srlinear": ("1 - e^-y", "Soft rectified linear (softplus)."),
    "abs": ("sign of x, 0 at 0", "The absolute value of the sum."),
    "tanh": ("1 - y^2", "Values between -1 and 1."),
    "brlinear": ("1 where 0 < y < 1, else 0", "Bounded rectified linear: cut off at 0 and at 1."),
}

FUNCTIONS = {
    "abs": (("x",), "The absolute value of a number."),
    "min": (("x", "y"), "The smallest of two or more numbers."),
    "max": (("x", "y"), "The largest of two or more numbers."),
    "floor": (("x",), "The nearest whole number that is not larger."),
    "ceil": (("x",), "The nearest whole number that is not smaller."),
    "round": (("x",), "The nearest whole number; halves go away from 0."),
    "sqrt": (("x",), "The square root of a number that is not negative."),
    "pow": (("x", "y"), "The first number to the power of the second, as `x ^ y`."),
    "mod": (("x", "y"), "The remainder of a division, with the sign of `x`, as `x % y`."),
    "sign": (("x",), "-1, 0 or 1: the sign of a number."),
}
FUNCTION_SECTION = "Constant declaration"


def keyword_markdown(word: str) -> str:
    """Return a keyword or a kind of connection; empty for other words."""
    word = " ".join(word.lower().split())
    entry = KEYWORDS.get(word) or KEYWORDS.get(PARTS.get(word, ""))
    return entry.markdown() if entry is not None else ""


def form_named(name: str) -> AttributeForm | None:
    """Return the form of an attribute of a bundle or a layer, by its name in any case."""
    return BY_NAME.get(name.lower()) or LAYER_FORMS.get(name.lower())


def attribute_markdown(
    form: AttributeForm, kind: str | None = None, value: str = "", more: Iterable[str] = ()
) -> str:
    """Return an attribute's entry: its meaning, its type, its limits and its default.

    `value` is the one in force, `more` are further lines of the list of facts.
    """
    facts = [f"- **Type** {wanted(form)}", f"- **Limits** {limits(form)}"]
    if kind in form.required:
        facts.append(f"- **Default** none: a `{kind}` connection needs it")
    elif form.default != "none":
        facts.append(f"- **Default** {form.default}")
    lines = "\n".join((*facts, *more))
    head = f"{form.name} = {value}" if value else form.name
    text = f"```netsharp\n{head}\n```\n{ATTRIBUTES[form.name]}"
    return f"{text}\n\n{lines}\n\n*Net# guide: {section_of(form)}*"


def limits(form: AttributeForm) -> str:
    """Return the constraint of an attribute; formulas as code."""
    text = form.constraint
    return "none" if text == "any" else f"`{text}`" if set("<>=") & set(text) else text


def section_of(form: AttributeForm) -> str:
    """Return the guide's section about an attribute."""
    if form.name in NORM_ONLY:
        return "Response normalization bundles"
    return "Layer declaration" if form.name == "Biases" else "Convolutional bundles"


def activation_formula(name: str) -> str:
    """Return an activation and its derivative in one line."""
    return f"`{ACTIVATIONS[name].formula}`, derivative `{ACTIVATION_NOTES[name][0]}`"


def activation_markdown(name: str) -> str:
    """Return an activation: formula, derivative, range and a note; empty for other words."""
    row = ACTIVATIONS.get(name)
    if row is None:
        return ""
    derivative, note = ACTIVATION_NOTES[name]
    low, high = (_bound(value) for value in row.range)
    return (
        f"```netsharp\n{name}(x) = {row.formula}\n```\n{note}\n\n"
        f"- **Derivative** `{derivative}`, with `y = {name}(x)`\n- **Values** {low} to {high}\n\n"
        "*Net# guide: Layer declaration*"
    )


def _bound(value: float) -> str:
    infinite = {float("inf"): "infinity", -float("inf"): "-infinity"}
    return infinite.get(value) or f"{value:g}"


def function_form(name: str) -> str:
    """Return a function as it is called: `min(x, y)`."""
    return f"{name}({', '.join(FUNCTIONS[name][0])})"


def function_markdown(name: str) -> str:
    """Return a function: its call and its meaning; empty for other words."""
    if name not in FUNCTIONS:
        return ""
    meaning = FUNCTIONS[name][1]
    return f"```netsharp\n{function_form(name)}\n```\n{meaning}\n\n*Net# guide: {FUNCTION_SECTION}*"
