"""The functions of MEL as the original tells them apart: names, parameters, options, meaning.

The order of the table is the order in which a name is compared: the first that fits is meant.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from netsharp_lsp.cntk.vocabulary import PLAIN_TRUTHS

#: How many parameters a function may have that takes as many as one likes.
ANY = 10**6
#: What a parameter stands for: a model, a node or a pattern of nodes, a file, a plain word.
MODEL, NODE, NEW_NODE, FILE, WORD = "model", "node", "new node", "file", "word"

FORMATS = ("cntk", "cntk_legacy_no_tensorlib")
COPIES = ("all", "value")


class Option(NamedTuple):
    """An optional parameter: its names, first the proper one, and what it may be (empty: any)."""

    names: tuple[str, ...]
    values: tuple[str, ...]


FORMAT = Option(("format",), FORMATS)
COPY = Option(("copyFlag", "copy"), COPIES)
INCLUDE_DATA = Option(("includeData",), PLAIN_TRUTHS)
SECTION = Option(("section",), ())


class Function(NamedTuple):
    """A function: `parameters` are pairs of a name and what it stands for; `most` may be more.

    `required` is how many parameters there must be; the last kind holds for further ones.
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
        """The function as it is to be called."""
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
        "Begins an empty model under a name; usually written `name = CreateModel()`.",
    ),
    _function(
        "LoadModel",
        (("file", FILE),),
        "Reads a model; `m = LoadModel(file)` gives it a name, else it is called `default`.",
        FORMAT,
    ),
    _function(
        "LoadModelWithName",
        (("name", WORD), ("file", FILE)),
        "Reads a model and gives it a name; the first model is also the default one.",
        FORMAT,
    ),
    _function(
        "LoadNDLSnippet",
        (("name", WORD), ("file", FILE)),
        "Begins a model with the nodes of one section of an NDL file.",
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
        "Makes a model the one that NDL statements and names without a model mean.",
    ),
    _function(
        "UnloadModel",
        (("model", MODEL),),
        "Forgets models; what was not saved is lost.",
        spread=(0, ANY),
    ),
    _function(
        "DumpModel/Dump",
        (("model", MODEL), ("file", FILE)),
        "Writes the nodes of a model to a text file, with their values if asked to.",
        INCLUDE_DATA,
    ),
    _function(
        "DumpNode",
        (("node", NODE), ("file", FILE)),
        "Writes what is known of nodes to a text file.",
        INCLUDE_DATA,
    ),
    _function(
        "CopyNode/Copy",
        (("from", NODE), ("to", NEW_NODE)),
        "Copies nodes under other names or to another model, with their inputs or values alone.",
        COPY,
    ),
    _function(
        "CopySubTree",
        (("from", NODE), ("toModel", MODEL), ("prefix", WORD)),
        "Copies a node and everything it is computed from; the prefix goes before every name.",
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
        "Puts nodes into a group or takes them out, or sets how fast parameters learn.",
    ),
    _function(
        "SetPropertyForSubTree",
        (("node", NODE), ("property", WORD), ("value", WORD)),
        "Sets how fast all parameters learn that a node is computed from.",
    ),
    _function(
        "RemoveNode/Remove",
        (("node", NODE),),
        "Deletes nodes; what was computed from them lacks an input then.",
        spread=(0, ANY),
    ),
    _function(
        "DeleteNode/Delete",
        (("node", NODE),),
        "Deletes nodes; what was computed from them lacks an input then.",
        spread=(0, ANY),
    ),
    _function(
        "Rename",
        (("old", NODE), ("new", NEW_NODE)),
        "Gives nodes other names.",
    ),
    _function(
        "ReviseParameter",
        (("node", NODE), ("file", FILE)),
        "Replaces the values of parameters by those of a text file.",
    ),
)
#: What makes a model where its value is given a name: functions of MEL that NDL does not get.
MAKERS = ("CreateModel", "LoadModel")
NAMES = tuple(name for one in FUNCTIONS for name in (one.name, one.alias) if name)


class Property(NamedTuple):
    """A property of nodes: `kind` is "group", "truth", "number" or "nothing"."""

    name: str
    kind: str
    documentation: str


PROPERTIES = (
    Property("criterion", "group", "Training minimizes the node."),
    Property("evaluation", "group", "The node is reported while testing."),
    Property("feature", "group", "The node gets features from the reader."),
    Property("label", "group", "The node gets labels from the reader."),
    Property("learningRateMultiplier", "number", "Scales how fast a parameter learns; 0 stops it."),
    Property("output", "group", "The node is an output of the model."),
    Property("recurrent", "nothing", "Does nothing."),
    Property("freezeParameters", "truth", "Keeps a parameter or a normalization as it is."),
)
#: Older names of properties, in the order in which they are compared, before the proper ones.
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
    """Whether a word is a name or its beginning, half of it at least, whatever its case."""
    return name.lower().startswith(word.lower()) and len(word) >= len(name) // 2 and bool(word)


@lru_cache(maxsize=512)
def meant(word: str) -> Function | None:
    """The function that a word means: the first that it is, or is the beginning of."""
    for one in FUNCTIONS:
        if fits(word, one.name) or (one.alias and fits(word, one.alias)):
            return one
    return None


def possible(word: str) -> list[str]:
    """Every name that a word could mean."""
    return [name for name in NAMES if fits(word, name)]


def property_meant(word: str) -> tuple[Property, str] | None:
    """The property that a word means, and the older name that it was taken for, if it was."""
    proper = {one.name: one for one in PROPERTIES}
    for old, new in OLD_PROPERTIES:
        if fits(word, old):
            return proper[new], old
    for one in PROPERTIES:
        if fits(word, one.name):
            return one, ""
    return None
