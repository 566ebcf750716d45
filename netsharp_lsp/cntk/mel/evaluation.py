"""Executes a text of MEL as CNTK does and keeps what is known of its models.

Files and their contents come from `Surroundings`; faults are values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.cntk.mel import arguments, dumping, editing, revising
from netsharp_lsp.cntk.mel.faults import NETWORK, EditFault, Replacement
from netsharp_lsp.cntk.mel.followed import Allowance, Followed
from netsharp_lsp.cntk.mel.functions import FUNCTIONS, MAKERS
from netsharp_lsp.cntk.mel.graph import Missing
from netsharp_lsp.cntk.mel.models import CONSTANT, MACRO, NODE, Model, Models
from netsharp_lsp.cntk.mel.names import no_default, unknown_model, unknown_node
from netsharp_lsp.cntk.mel.ndl_statements import names_in, top_function
from netsharp_lsp.cntk.mel.reading import parameter, unquoted, word
from netsharp_lsp.cntk.mel.surroundings import Known, Surroundings
from netsharp_lsp.cntk.ndl.containers import plugged
from netsharp_lsp.cntk.ndl.reading import read_script
from netsharp_lsp.cntk.ndl.syntax import NdlAssignment, NdlCall
from netsharp_lsp.cntk.networks.node import Network
from netsharp_lsp.diagnostics.nearest import nearest, suggestion
from netsharp_lsp.workspace import outside

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.mel.functions import Function
    from netsharp_lsp.cntk.mel.reading import MelScript, Statement
    from netsharp_lsp.cntk.mel.surroundings import Dumped, Revised
    from netsharp_lsp.cntk.networks.node import Trouble


#: A network without nodes.
EMPTY = Network({}, {})
#: The functions that write a file.
WRITERS = ("SaveModel", "SaveDefaultModel", "DumpModel", "DumpNode")
#: The origin of a model's nodes that are in no file.
_IN_NDL = "it is written in NDL"


class Edited(NamedTuple):
    """The result of executing a text: its faults, the models that it writes by file, in their
    order, the nodes that it writes as text, and the parameters initialized from files. `is_sure`:
    it writes no other model.
    """

    faults: list[EditFault]
    saved: dict[str, Known]
    is_sure: bool
    dumped: list[Dumped]
    revised: list[Revised]


def evaluate(script: MelScript, around: Surroundings) -> Edited:
    """Execute a parsed text."""
    going = _Evaluation(around)
    if not script.broken:
        for statement in script.statements:
            raise_if_cancelled()
            going.run(statement)
        going.finish()
    is_sure = going.is_sure and not script.broken
    return Edited(going.faults, going.saved, is_sure, going.dumped, going.revised)


class _Evaluation:
    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.measure = around.measure
        self.models = Models()
        self.faults: list[EditFault] = []
        self.saved: dict[str, Known] = {}
        self.dumped: list[Dumped] = []
        self.revised: list[Revised] = []
        self.is_sure = True
        #: Whether CNTK has stopped before.
        self._has_stopped = False
        self._work = Allowance()
        #: Whether a file is written, and the last change of any model.
        self.writes = False
        self.change: Traced | None = None

    def run(self, statement: Statement) -> None:
        """Execute one statement."""
        before = len(self.faults)
        _KINDS[statement.kind](self, statement)
        if not self._has_stopped and any(fault.stops for fault in self.faults[before:]):
            self._has_stopped = True
            for model in self.models.by_name.values():
                model.network.forget()

    def _followed(self, network: Network | None) -> Followed:
        around = self.around
        macros = around.macros if around.complete else None
        known = None if self._has_stopped else network
        return Followed(known, macros, around.measure, self._work)

    def finish(self) -> None:
        """Report changes that are lost at the end."""
        if self.change is not None and not self.writes:
            message = (
                "The edits are never written: the text ends without SaveModel, "
                "SaveDefaultModel or a dump."
            )
            self.faults.append(EditFault("not-saved", message, self.change))

    # Kinds of statements.

    def nothing(self, statement: Statement) -> None:
        """Report a statement that is neither a call nor an assignment."""
        message = (
            f"'{word(statement.text)}' is not a statement; the edit stops here. A statement is a "
            "call, name = call(...), or name = [ ... ]."
        )
        self.faults.append(EditFault("statement", message, statement.text))

    def snippet(self, statement: Statement) -> None:
        """Create a model from statements of NDL: `name = [ ... ]`."""
        assert statement.key is not None
        assert statement.value is not None
        self._build(statement.key, statement.value, statement.text)

    def _build(self, name: Traced, written: Traced, change: Traced) -> None:
        """Create a model from statements of NDL."""
        nodes = self._written(written)
        network = self._followed(EMPTY)
        for one in network.read(read_script(plugged(written)), change):
            if nodes is not None:
                nodes.setdefault(one.name, one.operation)
        self.take(Model(word(name), name, nodes, _IN_NDL, network))

    def _written(self, text: Traced) -> dict[str, str] | None:
        """Return the nodes that statements of NDL create; None if a function is unknown."""
        nodes: dict[str, str] = {}
        for statement in read_script(text).statements:
            if not isinstance(statement, NdlAssignment) or statement.name is None:
                return None
            if isinstance(statement.value, NdlCall):
                made = self.around.made(statement.value.name.text)
                if made is None:
                    return None
                for suffix, operation in made.items():
                    nodes[f"{statement.name.text}{suffix}"] = operation
        return nodes

    def ndl(self, statement: Statement) -> None:
        """Execute a statement of NDL in the default model."""
        assert statement.key is not None
        name = top_function(statement)
        if name is not None and (self._has_no_value(name) or self._makes(statement, name)):
            return
        model = self.models.default
        if model is None:
            what = f"'{word(statement.key)} = ...' is NDL and adds to the default model"
            self.faults.append(no_default(self.models, statement.key, what))
            return
        for used in names_in(statement):
            if not model.matches(word(used)) and self._is_missing(model, used):
                self.faults.append(unknown_node(model, used))
        self._define(model, word(statement.key), name)
        self._read(model, statement.text)
        self.change = model.changed = statement.text

    def _has_no_value(self, name: Traced) -> bool:
        proper = {one.lower(): one for row in FUNCTIONS for one in (row.name, row.alias) if one}
        found = proper.get(word(name).lower())
        if found is None:
            return False
        message = (
            f"'{found}' returns no value: only LoadModel and CreateModel do. The assignment is "
            "read as NDL, which has no such function. Write only the call."
        )
        self.faults.append(EditFault("no-value", message, name))
        return True

    def _makes(self, statement: Statement, name: Traced) -> bool:
        """Report a misspelt function that creates a model, unless NDL has it; return whether it is
        one.
        """
        spelt = word(name)
        near = nearest(spelt, MAKERS)
        if near is None or "$" in spelt or self.around.made(spelt) is not None:
            return False
        message = f"There is no function '{spelt}'; the edit stops here. Did you mean '{near}'?"
        repair = Replacement(f"Write '{near}'", name, near, safe=True)
        self.faults.append(EditFault("unknown-function", message, name, repair))
        key = statement.key
        assert key is not None
        self.take(Model(word(key), key, None, "", self._followed(None)))
        return True

    def _is_missing(self, model: Model, used: Traced) -> bool:
        name = word(used)
        return model.nodes is not None and model.matches(name) == [] and "*" not in name

    def _define(self, model: Model, key: str, function: Traced | None) -> None:
        if "$" in key:
            model.forget()
            return
        made = None if function is None else self.around.made(word(function))
        if function is not None and made is None:
            self._unknown_function(function)
        kind = CONSTANT if function is None else NODE if made is not None else MACRO
        model.define(key, kind)
        for suffix, operation in (made or {}).items():
            model.add(f"{key}{suffix}", operation)

    def _read(self, model: Model, text: Traced) -> None:
        for one in model.network.read(read_script(plugged(text)), text):
            model.add(one.name, one.operation)

    def _unknown_function(self, function: Traced) -> None:
        if self.around.complete and "$" not in word(function):
            message = (
                f"There is no function or macro '{word(function)}' for NDL here; the edit stops. "
                "Macros come from the files that 'ndlMacros' of the command names."
            )
            self.faults.append(EditFault("ndl-function", message, function))

    def model(self, statement: Statement) -> None:
        """Create or load a model: `m = LoadModel(file)`, `m = CreateModel()`."""
        assert statement.key is not None
        function = self.checked(statement)
        if function is None:
            return
        if function.name == "CreateModelWithName":
            self._take_empty(statement.key)
        else:
            self.load(word(statement.key), statement.key, statement.arguments[0])

    def call(self, statement: Statement) -> None:
        """Execute a call."""
        assert statement.function is not None
        if word(statement.function).lower() == "createmodel" and not statement.arguments:
            message = (
                "CreateModel() alone always stops: CNTK then reads it as "
                "CreateModelWithName, which needs a name. Write name = CreateModel()."
            )
            self.faults.append(EditFault("create-alone", message, statement.text))
            self.models.take(Model("default", statement.function, None, "", self._followed(None)))
            return
        function = self.checked(statement)
        if function is not None:
            handler = _HANDLERS.get(function.name)
            if handler is not None:
                handler(self, statement.arguments, function)
            else:
                _OF_NODES[function.name](self, statement, function)

    def checked(self, statement: Statement) -> Function | None:
        """Return the function of a call if its number of parameters is right; report all faults."""
        function = arguments.function_of(statement)
        if function is None:
            self.faults.append(arguments.unknown_function(statement))
            return None
        self.faults += arguments.of_names(statement, function)
        self.faults += arguments.of_separator(statement)
        before = len(self.faults)
        self.faults += arguments.of_count(statement, function)
        if any(fault.kind == "count" for fault in self.faults[before:]):
            self.writes = self.writes or function.name in WRITERS
            return None
        self.faults += arguments.of_options(statement, function)
        return function

    # Models.

    def take(self, model: Model) -> None:
        """Add a model; report one of the same name, which is lost."""
        before = self.models.take(model)
        if before is not None:
            message = (
                f"There is already a model '{model.name}': CNTK deletes it with a warning, "
                "including unsaved edits. Give this one another name."
            )
            notes = (("It was named here.", before.text),)
            self.faults.append(EditFault("model-twice", message, model.text, notes=notes))

    def load(self, name: str, key: Traced, file: Traced) -> None:
        """Load a model."""
        path = word(unquoted(file))
        if "$" in path:
            self.take(Model(name, key, None, "", self._followed(None)))
            return
        known = self.saved.get(path) or self.around.loaded(path)
        if known is None and self._is_outside(path, file):
            known = Known(None, "")
        elif known is None:
            message = (
                f"'{path}' does not exist, and no earlier command writes it. Its nodes are unknown."
            )
            self.faults.append(EditFault("missing-file", message, file))
            known = Known(None, "")
        self.take(Model(name, key, known.nodes, known.origin, self._followed(known.network)))

    def _is_outside(self, path: str, text: Traced) -> bool:
        """Return whether a file is unknown, because it is outside the allowed folders;
        record that.
        """
        if not self.around.is_outside(path):
            return False
        self.faults.append(EditFault("outside", outside(path), text))
        return True

    def named(self, name: Traced, is_error: bool = True) -> Model | None:
        """Return a model by its name; record a fault if there is none."""
        model = self.models.find(word(name))
        if model is None and "$" not in word(name):
            self.faults.append(unknown_model(self.models, name, is_error))
        return model

    def create(self, given: list[Traced], function: Function) -> None:
        """Create an empty model (`CreateModelWithName`)."""
        self._take_empty(given[0])

    def _take_empty(self, name: Traced) -> None:
        self.take(Model(word(name), name, {}, "it was created empty", self._followed(EMPTY)))

    def load_named(self, given: list[Traced], function: Function) -> None:
        """Load a model (`LoadModelWithName`)."""
        self.load(word(given[0]), given[0], given[1])

    def load_alone(self, given: list[Traced], function: Function) -> None:
        """Load a model named `default` (`LoadModel`)."""
        self.load("default", given[0], given[0])

    def load_snippet(self, given: list[Traced], function: Function) -> None:
        """Create a model from a section of an NDL file (`LoadNDLSnippet`)."""
        options = [found for one in given[2:] if (found := parameter(one)) is not None]
        path = word(unquoted(given[1]))
        sections = None if "$" in path else self.around.sections(path)
        if sections is None and "$" not in path and self._is_outside(path, given[1]):
            pass  # The model of the snippet is unknown, as it is in any case.
        elif sections is None and "$" not in path and self.around.complete:
            message = f"There is no file '{path}'; the edit stops here."
            self.faults.append(EditFault("snippet-file", message, given[1]))
        elif not options:
            listed = f", for example section={next(iter(sections))}" if sections else ""
            message = (
                f"Without a section '{path}' is read but creates no node: the model stays empty. "
                f"Name a section{listed}."
            )
            self.faults.append(EditFault("snippet-whole", message, given[1]))
        elif sections is not None:
            written = self._section(options[0].value, path, sections)
            # The values of variables of that file are unknown.
            if written is not None and b"$" not in written.text:
                self._build(given[0], written, given[1])
                return
        self.take(Model(word(given[0]), given[0], None, _IN_NDL, self._followed(None)))

    def _section(self, name: Traced, path: str, sections: Mapping[str, Traced]) -> Traced | None:
        spelt = word(name)
        if "$" in spelt:
            return None
        for one, written in sections.items():
            if one.lower() == spelt.lower():
                return written
        ask = suggestion(spelt, list(sections)) or f" It has {', '.join(sections) or 'none'}."
        message = f"'{path}' has no section '{spelt}'; the edit stops here.{ask}"
        self.faults.append(EditFault("snippet-section", message, name))
        return None

    def save(self, given: list[Traced], function: Function) -> None:
        """Save a model (`SaveModel`)."""
        model = self.named(given[0])
        if model is not None:
            self.write(model, given[1])
        self.writes = True

    def save_default(self, given: list[Traced], function: Function) -> None:
        """Save the default model (`SaveDefaultModel`)."""
        if self.models.default is None:
            what = "SaveDefaultModel writes the default model"
            self.faults.append(no_default(self.models, given[0], what))
        else:
            self.write(self.models.default, given[0])
        self.writes = True

    def write(self, model: Model, file: Traced) -> None:
        """Write a model to a file as it is now."""
        path = word(unquoted(file))
        self.is_sure = self.is_sure and "$" not in path
        network = self._finished(model, file)
        nodes = None if model.has_macros or model.nodes is None else dict(model.nodes)
        self.saved.pop(path, None)
        self.saved[path] = Known(nodes, model.origin, network)
        model.saved = True

    def _finished(self, model: Model, file: Traced) -> Network | None:
        """Return the network that is written; report where CNTK stops."""
        found = model.network.finished()
        if isinstance(found, Missing):
            name, number = found.node.name, found.number
            message = (
                f"Input {number} of '{name}' ({found.node.operation}, counted from 0) is not "
                f"connected when '{model.name}' is written, and CNTK stops there. Connect it with "
                f"SetNodeInput({name}, {number}, ...), or remove '{name}', too."
            )
            change = file if found.change is None else found.change
            self.faults.append(EditFault("not-connected", message, change))
            return None
        for trouble in () if found is None else found.troubles:
            self._note_trouble(model, trouble, file)
        return found if found is not None and not found.troubles else None

    def _note_trouble(self, model: Model, trouble: Trouble, file: Traced) -> None:
        text = model.network.cause(trouble.node)
        message = (
            f"'{trouble.node.name}': {trouble.message} CNTK stops when it writes the model "
            f"'{model.name}'."
        )
        at = file if text is None else text
        self.faults.append(EditFault(f"{NETWORK}{trouble.kind}", message, at))

    def set_default(self, given: list[Traced], function: Function) -> None:
        """Set the default model (`SetDefaultModel`)."""
        model = self.named(given[0])
        if model is not None:
            self.models.default = model

    def unload(self, given: list[Traced], function: Function) -> None:
        """Unload models (`UnloadModel`), which only warns of unknown ones."""
        for one in given:
            model = self.named(one, is_error=False)
            if model is not None:
                self.models.unload(model, one)


_KINDS: dict[str, Callable[[_Evaluation, Statement], None]] = {
    "nothing": _Evaluation.nothing,
    "snippet": _Evaluation.snippet,
    "ndl": _Evaluation.ndl,
    "model": _Evaluation.model,
    "call": _Evaluation.call,
}
_HANDLERS: dict[str, Callable[[_Evaluation, list[Traced], Function], None]] = {
    "CreateModelWithName": _Evaluation.create,
    "LoadModel": _Evaluation.load_alone,
    "LoadModelWithName": _Evaluation.load_named,
    "LoadNDLSnippet": _Evaluation.load_snippet,
    "SaveDefaultModel": _Evaluation.save_default,
    "SaveModel": _Evaluation.save,
    "SetDefaultModel": _Evaluation.set_default,
    "UnloadModel": _Evaluation.unload,
}
_OF_NODES: dict[str, Callable[[_Evaluation, Statement, Function], None]] = {
    **editing.HANDLERS,
    **dumping.HANDLERS,
    **revising.HANDLERS,
}
