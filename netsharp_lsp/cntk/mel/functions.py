"""The functions of MEL as CNTK resolves them: names, parameters, options, documentation.  Executes
none.

The order of the table is the order in which a name is compared: the first match is used.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from netsharp_lsp.cntk.vocabulary import PLAIN_TRUTHS

#: The most parameters of a function with any number of them.
ANY = 10**6
#: The kinds of parameters: a model, a node or a pattern of nodes, a file, a plain word.
MODEL, NODE, NEW_NODE, FILE, WORD = "model", "node", "new node", "file", "word"

FORMATS = ("cntk", "cntk_legacy_no_tensorlib")
COPIES = ("all", "value")


class Option(NamedTuple):
    """An optional parameter: its names, the canonical one first, and its values (empty: any)."""

    names: tuple[str, ...]
    values: tuple[str, ...]


FORMAT = Option(("format",), FORMATS)
COPY = Option(("copyFlag", "copy"), COPIES)
INCLUDE_DATA = Option(("includeData",), PLAIN_TRUTHS)
SECTION = Option(("section",), ())


class Function(NamedTuple):
    """A function: `parameters` are pairs of a name and a kind; `most` may be larger.

    `required` is the number of required parameters; the last kind applies to further ones.
    """

    name: str
    alias: str
    parameters: tuple[tuple[str, str], ...]
    required: int
    most: int
    option: Option | None
    documentation: str

    @property
    def form(self) -> str:
        """Return the form of a call."""
        shown = []
        for number, (name, _) in enumerate(self.parameters):
            shown.append(name if number < self.required else f"[{name}]")
        if self.most == ANY:
            shown.append("...")
        if self.option is not None:
            values = "|".join(self.option.values) or "name"
            shown.append(f"[{self.option.names[-1]}={values}]")
        return f"{self.name}({', '.join(shown)})"


def _function(
    names: str,
    parameters: tuple[tuple[str, str], ...],
    documentation: str,
    option: Option | None = None,
    spread: tuple[int, int] | None = None,
) -> Function:
    name, _, alias = names.partition("/")
    required, most = spread or (len(parameters), len(parameters) + (option is not None))
    return Function(name, alias, parameters, required, most, option, documentation)


FUNCTIONS = (
    _function(
        "CreateModelWithName",
        (("name", WORD),),
        "Creates an empty model with a name; usually written `name = CreateModel()`.",
    ),
    _function(
        "LoadModel",
        (("file", FILE),),
        "Loads a model; `m = LoadModel(file)` names it, otherwise its name is `default`.",
        FORMAT,
    ),
    _function(
        "LoadModelWithName",
        (("name", WORD), ("file", FILE)),
        "Loads a model and names it; the first model is also the default one.",
        FORMAT,
    ),
    _function(
        "LoadNDLSnippet",
        (("name", WORD), ("file", FILE)),
        "Creates a model with the nodes of one section of an NDL file.",
        SECTION,
    ),
    _function(
        "SaveDefaultModel",
        (("file", FILE),),
        "Checks the default model and writes it to a file.",
        FORMAT,
    ),
    _function(
        "SaveModel",
        (("model", MODEL), ("file", FILE)),
        "Checks a model and writes it to a file.",
        FORMAT,
    ),
    _function(
        "SetDefaultModel",
        (("model", MODEL),),
        "Makes a model the default for NDL statements and names without a model.",
    ),
    _function(
        "UnloadModel",
        (("model", MODEL),),
        "Unloads models; unsaved edits are lost.",
        spread=(0, ANY),
    ),
    _function(
        "DumpModel/Dump",
        (("model", MODEL), ("file", FILE)),
        "Writes the nodes of a model to a text file, with their values if requested.",
        INCLUDE_DATA,
    ),
    _function(
        "DumpNode",
        (("node", NODE), ("file", FILE)),
        "Writes nodes to a text file.",
        INCLUDE_DATA,
    ),
    _function(
        "CopyNode/Copy",
        (("from", NODE), ("to", NEW_NODE)),
        "Copies nodes to other names or another model, with their inputs or only their values.",
        COPY,
    ),
    _function(
        "CopySubTree",
        (("from", NODE), ("toModel", MODEL), ("prefix", WORD)),
        "Copies a node and all that it depends on; the prefix is put before every name.",
        COPY,
    ),
    _function(
        "CopyNodeInputs/CopyInputs",
        (("from", NODE), ("to", NEW_NODE)),
        "Gives nodes the same inputs as others of the same model have.",
    ),
    _function(
        "SetNodeInput/SetInput",
        (("node", NODE), ("index", WORD), ("input", NODE)),
        "Connects one input of a node, counted from 0, to another node.",
    ),
    _function(
        "SetNodeInputs/SetInputs",
        (("node", NODE), ("input", NODE), ("input", NODE), ("input", NODE)),
        "Connects all inputs of a node, up to three.",
        spread=(2, 4),
    ),
    _function(
        "SetProperty",
        (("node", NODE), ("property", WORD), ("value", WORD)),
        "Adds nodes to a group or removes them, or scales the learning rate of parameters.",
    ),
    _function(
        "SetPropertyForSubTree",
        (("node", NODE), ("property", WORD), ("value", WORD)),
        "Scales the learning rate of all parameters that a node depends on.",
    ),
    _function(
        "RemoveNode/Remove",
        (("node", NODE),),
        "Deletes nodes; nodes that used them lack an input afterwards.",
        spread=(0, ANY),
    ),
    _function(
        "DeleteNode/Delete",
        (("node", NODE),),
        "Deletes nodes; nodes that used them lack an input afterwards.",
        spread=(0, ANY),
    ),
    _function(
        "Rename",
        (("old", NODE), ("new", NEW_NODE)),
        "Renames nodes.",
    ),
    _function(
        "ReviseParameter",
        (("node", NODE), ("file", FILE)),
        "Replaces the values of parameters by those of a text file.",
    ),
)
#: Functions whose value is a model; an assignment of these is not NDL.
MAKERS = ("CreateModel", "LoadModel")
NAMES = tuple(name for one in FUNCTIONS for name in (one.name, one.alias) if name)


class Property(NamedTuple):
    """A property of nodes: `kind` is "group", "truth", "number" or "nothing"."""

    name: str
    kind: str
    documentation: str


PROPERTIES = (
    Property("criterion", "group", "Training minimizes the node."),
    Property("evaluation", "group", "The node is reported in tests."),
    Property("feature", "group", "The node gets features from the reader."),
    Property("label", "group", "The node gets labels from the reader."),
    Property(
        "learningRateMultiplier", "number", "Scales the learning rate of a parameter; 0 freezes it."
    ),
    Property("output", "group", "The node is an output of the model."),
    Property("recurrent", "nothing", "Has no effect."),
    Property("freezeParameters", "truth", "Freezes a parameter or a normalization."),
)
#: Older names of properties, in the order in which they are compared, before the current ones.
OLD_PROPERTIES = (
    ("finalCriterion", "criterion"),
    ("Criteria", "criterion"),
    ("eval", "evaluation"),
    ("needGradient", "learningRateMultiplier"),
    ("needsGradient", "learningRateMultiplier"),
    ("computeGradient", "learningRateMultiplier"),
)
SUBTREE_PROPERTIES = ("learningRateMultiplier",)


def fits(word: str, name: str) -> bool:
    """Return whether a word is a name or a prefix of at least half its length, whatever the
    case.
    """
    return name.lower().startswith(word.lower()) and len(word) >= len(name) // 2 and bool(word)


@lru_cache(maxsize=512)
def meant(word: str) -> Function | None:
    """Return the function that a word refers to: the first whose name it is, or a prefix of."""
    for one in FUNCTIONS:
        if fits(word, one.name) or (one.alias and fits(word, one.alias)):
            return one
    return None


def possible(word: str) -> list[str]:
    """Return all names that a word may abbreviate."""
    return [name for name in NAMES if fits(word, name)]


def property_meant(word: str) -> tuple[Property, str] | None:
    """Return the property that a word refers to, and the older name that it matched, if any."""
    proper = {one.name: one for one in PROPERTIES}
    for old, new in OLD_PROPERTIES:
        if fits(word, old):
            return proper[new], old
    for one in PROPERTIES:
        if fits(word, one.name):
            return one, ""
    return None
