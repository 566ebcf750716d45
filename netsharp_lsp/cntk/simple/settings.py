"""The options of a SimpleNetworkBuilder, read as CNTK reads them; builds nothing.

A value that depends on an unknown variable is None; an invalid value is a fault.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.networks.faults import BuildingFault, Place
from netsharp_lsp.cntk.vocabulary import TRUE, TRUTHS

if TYPE_CHECKING:
    from typing import Any

    from netsharp_lsp.cntk.configuration.scope import Found, Scope

_WHOLE = re.compile(r"[+-]?[0-9]+\Z")
#: The criteria for training and evaluation, case-insensitive.
TRAINING = {
    "crossentropywithsoftmax": "CrossEntropyWithSoftmax",
    "squareerror": "SquareError",
    "logistic": "Logistic",
    "noisecontrastiveestimation": "NoiseContrastiveEstimation",
    "classcrossentropywithsoftmax": "ClassBasedCrossEntropyWithSoftmax",
    "sequencewithsoftmax": "SequenceWithSoftmax",
}
EVALUATION = TRAINING | {
    "classificationerror": "ClassificationError",
    "errorprediction": "ClassificationError",
}
#: Kinds of networks; the first of these in `rnnType` is used; they are case-sensitive.
KINDS = (
    *("SIMPLENET", "SIMPLERNN", "LSTM", "CLASSLM", "LBLM", "NPLM"),
    *("CLASSLSTM", "NCELSTM", "CLSTM", "CRF"),
)
#: Activations of layers by their name in `layerTypes`; empty for linear layers.
FUNCTIONS = {
    "Sigmoid": "Sigmoid",
    "RectifiedLinear": "RectifiedLinear",
    "Tanh": "Tanh",
    "None": "",
    "none": "",
    "": "",
}
_GATES = ("input", "forget", "output")
#: Plain options by field: their names and defaults.
_TRUTHS = {
    "uniform": ("uniformInit", "true"),
    "normalize": ("applyMeanVarNorm", "false"),
    "prior": ("needPrior", "false"),
    "dropout": ("addDropoutNodes", "false"),
    "sparse": ("sparseinput", "false"),
    **{f"constant_gates {gate}": (f"const{gate.title()}GateValue", "false") for gate in _GATES},
}
_REALS = {
    "scale": ("initValueScale", "1.0"),
    "activity": ("defaultHiddenActivity", "0.1"),
    **{f"gate_values {gate}": (f"{gate}GateInitVal", "-1") for gate in _GATES},
}
_WHOLES = {
    "table_order": ("lookupTableOrder", "0"),
    "past_order": ("maOrder", "0"),
    "auxiliary": ("auxfeatdim", "20"),
    "classes": ("nbrClass", "-1"),
    "vocabulary": ("vocabSize", "-1"),
    "noise": ("noise_number", "-1"),
}
_LISTS = {"recurrent": "recurrentLayer", "direct": "directConnect"}
#: The most layers of a list: a longer one is a mistake.
MOST = 10_000


class SimpleSettings(NamedTuple):
    """The effective options.  Lists of sizes and activations are continued with their last
    element.
    """

    sizes: tuple[int | None, ...]
    functions: tuple[str, ...]
    training: str
    evaluation: str
    kind: str
    uniform: bool
    scale: float
    normalize: bool
    prior: bool
    dropout: bool
    recurrent: tuple[int, ...]
    direct: tuple[int, ...]
    activity: float
    table_order: int
    past_order: int
    constant_gates: tuple[bool, bool, bool]
    gate_values: tuple[float, float, float]
    sparse: bool
    auxiliary: int
    classes: int
    vocabulary: int
    noise: int

    @property
    def hidden(self) -> int:
        """Return the number of hidden layers."""
        return len(self.sizes) - 2

    def size(self, number: int) -> int | None:
        """Return the size of a layer, the input being 0."""
        return self.sizes[min(number, len(self.sizes) - 1)]

    def function(self, layer: int) -> str:
        """Return the activation of a hidden layer, from 0."""
        return self.functions[min(layer, len(self.functions) - 1)]

    def is_recurrent(self, number: int, layer: int) -> bool:
        """Return whether the list of recurrent layers has a layer at a number."""
        if not self.recurrent:
            return False
        return self.recurrent[min(number, len(self.recurrent) - 1)] == layer


class Reader:
    """Reads options from a block; `known` is False once a value is unknown."""

    def __init__(self, scope: Scope, place: Place) -> None:
        self.scope = scope
        self.place = place
        self.faults: list[BuildingFault] = []
        self.known = True

    def settings(self) -> SimpleSettings | None:
        """Return all options, or None if they do not describe a network."""
        given: dict[str, Any] = {
            "training": self._criterion("trainingCriterion", TRAINING),
            "evaluation": self._criterion("evalCriterion", EVALUATION),
            "kind": self._kind(),
            "sizes": self._sizes("layerSizes", "100"),
            "functions": self._functions(),
        }
        complete = all(given.values()) and len(given["sizes"]) >= 2
        given |= {field: self._truth(*option) for field, option in _TRUTHS.items()}
        given |= {field: self._real(*option) for field, option in _REALS.items()}
        given |= {field: self._whole(*option) for field, option in _WHOLES.items()}
        given |= {field: self._wholes(option) for field, option in _LISTS.items()}
        for field in ("constant_gates", "gate_values"):
            given[field] = tuple(given.pop(f"{field} {gate}") for gate in _GATES)
        return SimpleSettings(**given) if complete and self.known else None

    def fault(self, kind: str, message: str, found: Found | None = None) -> None:
        """Record a fault of an option, or of the block."""
        place = self.place
        if found is not None:
            inside = found.text.place(0, len(found.text))
            place = Place(inside.source.name, inside.start, inside.end)
        self.faults.append(BuildingFault(kind, message, place))

    def _text_option(self, name: str, default: str) -> tuple[str | None, Found | None]:
        """Return the text of an option; None if it is unknown."""
        found = self.scope.look_up(name.encode())
        if found is None or found.text.text == b"default":
            return default, None
        if found.problem is not None:
            self.known = False
            return None, found
        return found.text.text.decode("utf-8", "replace"), found

    def _elements(self, name: str, default: str) -> tuple[list[str | None], Found | None]:
        """Return the elements of an option that is a list; None for unknown ones."""
        found = self.scope.look_up(name.encode())
        if found is None or found.text.text == b"default":
            return [default] if default else [], None
        listed = elements(found.text)
        if listed is None:
            self.fault("option-value", f"'{name}' cannot be read as a list.", found)
            return [], found
        return [
            None
            if any(use.problem is not None for use in one.uses)
            else one.text.decode("utf-8", "replace")
            for one in listed[:MOST]
        ], found

    def _criterion(self, name: str, known: dict[str, str]) -> str | None:
        found = self.scope.look_up(name.encode())
        if found is None or not found.text.text:
            message = f"SimpleNetworkBuilder needs '{name}': without it there is no network."
            self.fault("missing-criterion", message)
            return None
        if found.problem is not None:
            self.known = False
            return None
        text = found.text.text.decode("utf-8", "replace")
        criterion = known.get(text.lower())
        if criterion is None:
            words = ", ".join(sorted(set(known.values())))
            message = f"'{text}' is not a criterion of '{name}'; there are {words}."
            self.fault("unknown-criterion", message, found)
        elif criterion == "SequenceWithSoftmax":
            message = (
                "CNTK accepts the word 'sequenceWithSoftmax', but builds no such criterion"
                " here: it stops."
            )
            self.fault("unsupported-criterion", message, found)
            return None
        return criterion

    def _kind(self) -> str | None:
        words, found = self._elements("rnnType", "SIMPLENET")
        if None in words:
            self.known = False
            return None
        kind = next((one for one in KINDS if one in words), None)
        if kind is None:
            message = (
                f"'{words[0] if words else ''}' is not an 'rnnType'; there are {', '.join(KINDS)}"
            )
            self.fault("unknown-kind", f"{message}, all in capitals.", found)
        elif kind == "CRF":
            message = "CNTK has 'rnnType = CRF' by name only: it stops."
            self.fault("unsupported-kind", message, found)
            return None
        return kind

    def _sizes(self, name: str, default: str) -> tuple[int | None, ...]:
        words, found = self._elements(name, default)
        sizes = tuple(None if one is None else self._number(one, name, found) for one in words)
        if len(sizes) < 2:
            message = "'layerSizes' lists the sizes of at least two layers, input and output."
            self.fault("layer-sizes", message, found)
        elif any(size is not None and size < 0 for size in sizes):
            self.fault("layer-sizes", "the size of a layer is at least 0.", found)
            return ()
        return sizes

    def _functions(self) -> tuple[str, ...]:
        words, found = self._elements("layerTypes", "Sigmoid")
        functions = []
        for word in words:
            if word is None:
                self.known = False
            elif word in FUNCTIONS:
                functions.append(FUNCTIONS[word])
            else:
                functions.append(self._meant(word, found))
        return tuple(functions)

    def _meant(self, word: str, found: Found | None) -> str:
        """Return the activation that a misspelt word stands for; CNTK stops at it."""
        message = (
            f"'{word}' is not an activation of a layer; there are Sigmoid, RectifiedLinear, Tanh "
            "and None, in this spelling."
        )
        self.fault("unknown-layer", message, found)
        meant = next((one for one in FUNCTIONS if one.lower() == word.lower()), None)
        if meant is None:
            self.known = False
            return ""
        return FUNCTIONS[meant]

    def _wholes(self, name: str) -> tuple[int, ...]:
        words, found = self._elements(name, "")
        numbers = []
        for word in words:
            if word is None:
                self.known = False
            else:
                numbers.append(self._number(word, name, found))
        return tuple(numbers)

    def _number(self, text: str, name: str, found: Found | None) -> int:
        if not _WHOLE.match(text) or len(text) > 15:
            self.fault("option-value", f"'{name}' needs integers, and '{text}' is not one.", found)
            return 0
        return int(text)

    def _whole(self, name: str, default: str) -> int:
        text, found = self._text_option(name, default)
        return 0 if text is None else self._number(text, name, found)

    def _real(self, name: str, default: str) -> float:
        text, found = self._text_option(name, default)
        if text is None:
            return 0.0
        try:
            return float(text)
        except ValueError:
            self.fault("option-value", f"'{name}' is a number, and '{text}' is not one.", found)
            return 0.0

    def _truth(self, name: str, default: str) -> bool:
        text, found = self._text_option(name, default)
        if text is not None and text not in TRUTHS:
            message = f"'{name}' is true or false, and '{text}' is neither."
            self.fault("option-value", message, found)
        return text in TRUE
