"""Translates a call of the hosts into a specification and a run file, and lists what these lack.

Knows the table of arguments; reads no disk and no script.
"""

from __future__ import annotations

import math
import re

from netsharp_engine.host_arguments import (
    ARGUMENTS,
    LOSSES,
    NORMALIZERS,
    OPTIMIZER_CALLS,
    OPTIMIZERS,
    TASKS,
    by_plain_name,
    plain_name,
)
from netsharp_lsp.importing.arguments import ENSEMBLES, PLACES, USUAL_PLACES
from netsharp_lsp.importing.columns import Transforms, formula_columns, transforms_of
from netsharp_lsp.importing.networks import host_network
from netsharp_lsp.importing.tables import factor_of, table_file
from netsharp_lsp.importing.values import (
    REST,
    ChangedValue,
    FileText,
    GivenArgument,
    HostCall,
    ModelFormula,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from netsharp_engine.host_arguments import HostArgument
    from netsharp_lsp.importing.columns import FormulaSides
    from netsharp_lsp.importing.values import ColumnChange, HostValue

_ROWS = by_plain_name(ARGUMENTS)
_RULES = by_plain_name(OPTIMIZERS)
_RULE_PLACES = {
    rule: [row.r for row in OPTIMIZERS if row.key.startswith("adadelta") == (rule == "adadelta")]
    for rule in ("sgd", "adadelta")
}
_HIDDEN_NODES = _ROWS["numhiddennodes"]
#: A path or the name of a file: no text of Net# is without blanks, brackets and semicolons.
_PATH = re.compile(r"(?:[A-Za-z]:|~)?[^\n;{}\[\]:]*(?:[\\/][^\s;{}\[\]/]+|\.[A-Za-z]\w{0,7})")
#: How Python reads a file; the rest is R.
_READS = dict.fromkeys(("rx_neural_network", "NeuralNetwork"), "open(...).read()")
#: The comment on a value that a call leaves to its host.
DEFAULT = "the host's default"
#: The keys of [data] that calls give.
DATA_KEYS = (
    *("train", "label", "header", "delimiter", "decimal", "encoding", "categorical", "columns"),
    *("exclude", "rows"),
)


class NotCarried:
    """An argument that no file can express: its name, its line in the script, and why.

    `key` is the setting that expresses it here, "" where there is none.
    """

    __slots__ = ("argument", "key", "line", "why")

    def __init__(self, argument: str, line: int, why: str, key: str = "") -> None:
        self.argument = argument
        self.line = line
        self.why = why
        self.key = key


class CarriedSetting:
    """A setting that a call gives: the key and its value, and the argument with its line.

    `by_default`: whether the value is the host's default; `comment` explains it then.
    """

    __slots__ = ("argument", "by_default", "comment", "key", "line", "section", "value")

    def __init__(
        self,
        section: str,
        key: str,
        value: object,
        argument: str,
        line: int,
        comment: str = "",
        *,
        by_default: bool = False,
    ) -> None:
        self.section = section
        self.key = key
        self.value = value
        self.argument = argument
        self.line = line
        self.comment = comment
        self.by_default = by_default


class ImportedCall:
    """A call as files: `net` is None where the definition is not known; `left` is what is lost.

    `own_net`: whether `net` is the host's default network, as the call gives none; `net_file` is
    the file that `net` was read from, "" where it is in the script; `no_net` what the call gives as
    its definition where that is not one.
    """

    __slots__ = (
        "comments",
        "function",
        "left",
        "line",
        "net",
        "net_file",
        "no_net",
        "own_net",
        "settings",
        "target",
    )

    def __init__(self, call: HostCall) -> None:
        self.line = call.line
        self.target = call.target
        self.function = call.name
        self.net: str | None = None
        self.net_file = ""
        self.no_net: str | None = None
        self.own_net = False
        self.settings: list[CarriedSetting] = []
        self.comments: list[str] = []
        self.left: list[NotCarried] = []


def imported(call: HostCall, read: Callable[[str], str | None]) -> ImportedCall:
    """Return a call as files; `read` returns the text of a file that the call names."""
    return _Translation(call, read).done


class _Translation:
    """The translation of one call."""

    __slots__ = ("call", "default", "done", "given", "read", "rest")

    def __init__(self, call: HostCall, read: Callable[[str], str | None]) -> None:
        self.call = call
        self.read = read
        self.default = DEFAULT
        self.rest: GivenArgument | None = None
        self.done = ImportedCall(call)
        self.given: dict[str, GivenArgument] = {}
        if call.around is not None and call.around.name in ENSEMBLES:
            self._sort_ensemble(call.around)
        self._sort(call)
        formula = self._formula()
        transforms = self._transforms()
        self._columns(formula, transforms)
        self._table(formula, transforms)
        task = self._task()
        self._host_key("host", "rx", self.call.name)
        self._optimizer()
        for name in ("numIterations", "miniBatchSize", "initWtsDiameter", "maxNorm"):
            self._plain(_ROWS[name.lower()])
        self._normalizer()
        self._loss()
        self._definition(task)

    def _list_lost(self, argument: str, line: int, why: str, key: str = "") -> None:
        self.done.left.append(NotCarried(argument, line, why, key))

    def _sort_ensemble(self, ensemble: HostCall) -> None:
        """Carry what an ensemble gives for each of its learners; list the rest as lost, by name."""
        why = "one model is trained here, not an ensemble"
        self._list_lost(ensemble.name, self.call.line, why)
        own = []
        places = _places(ensemble)
        for argument in ensemble.arguments:
            name = argument.name or next(places, "")
            if name == "trainers":
                continue
            if name != REST and _row(name) is None:
                why = f"{argument.written} is not carried over: it is about the ensemble"
                self._list_lost(name or argument.written, argument.line, why)
                continue
            own.append(GivenArgument(name, argument.value, argument.line, argument.written))
        self._sort(HostCall(ensemble.name, own, ensemble.line))

    def _sort(self, call: HostCall) -> None:
        """Carry each argument by its row of the table; list those without one as lost, by name."""
        places = _places(call)
        for argument in call.arguments:
            if argument.name == REST:
                self._list_rest_lost(argument)
                places = iter(())
                continue
            name = argument.name or next(places, "")
            row = _row(name)
            if row is None:
                self._list_lost(name or argument.written, argument.line, "it is not known here")
                continue
            known = row.r or row.python
            self.given[known] = argument
            if row.becomes.startswith("report") and argument.value is not None:
                self._list_lost(name, argument.line, f"{argument.written} is not carried over")

    def _list_rest_lost(self, argument: GivenArgument) -> None:
        """List arguments that only a run knows as lost: defaults are uncertain then."""
        self._list_lost(argument.written, argument.line, "what it gives is known only at run time")
        self.rest = argument
        self.default = f"{DEFAULT}, unless {argument.written} gives it"

    def _key(
        self, key: str, value: object, argument: GivenArgument, comment: str = "", name: str = ""
    ) -> None:
        """Carry an argument as a key, under a `name` where it is part of another."""
        word = name or argument.name or self._name_of(argument)
        row = CarriedSetting(_section(key), key, value, word, argument.line, comment)
        self.done.settings.append(row)

    def _host_key(self, key: str, value: object, argument: str, comment: str = "") -> None:
        """Carry a default of the host."""
        row = CarriedSetting(
            _section(key), key, value, argument, self.call.line, comment, by_default=bool(comment)
        )
        self.done.settings.append(row)

    def _name_of(self, argument: GivenArgument) -> str:
        return next((name for name, one in self.given.items() if one is argument), "")

    def _formula(self) -> FormulaSides | None:
        """Return the parsed formula; list its terms that are not columns as lost, by name."""
        argument = self.given.get("formula")
        if argument is None:
            why = "it is missing, so the label is not known"
            self._list_lost("formula", self.call.line, why, "label")
            return None
        value = argument.value
        text = value.text if isinstance(value, ModelFormula) else value
        found = formula_columns(text) if isinstance(text, str) else None
        if found is None:
            why = f"{argument.written} is known only at run time"
            self._list_lost("formula", argument.line, why, "label")
            return None
        for term in found.terms:
            self._list_lost(
                "formula", argument.line, f"'{term}' is not a column: compute it beforehand"
            )
        if found.label is not None:
            self._key("label", found.label, argument)
        return found

    def _transforms(self) -> Transforms:
        """Return the concatenations and categories; list other transforms as lost, by name."""
        argument = self.given.get("mlTransforms")
        if argument is None or argument.value is None:
            return Transforms()
        found = transforms_of(argument.value, argument.line)
        if found is None:
            why = f"{argument.written} is known only at run time"
            self._list_lost("mlTransforms", argument.line, why)
            return Transforms()
        for written, line in found.others:
            self._list_lost("mlTransforms", line, f"{written} is not carried over")
        return found

    def _columns(self, formula: FormulaSides | None, transforms: Transforms) -> None:
        """Carry the columns that are features, with concatenated ones replaced by their parts."""
        argument = self.given.get("formula")
        if formula is None or argument is None:
            return
        if formula.columns:
            columns = [each for one in formula.columns for each in transforms.inputs_of(one)]
            self._key("columns", list(dict.fromkeys(columns)), argument)
        elif transforms.together:
            made = ", ".join(transforms.together)
            why = f"concat to {made} is not carried over, as the formula takes all columns"
            self._list_lost("mlTransforms", self.given["mlTransforms"].line, why, "columns")
        if formula.exclude:
            self._key("exclude", formula.exclude, argument)

    def _table(self, formula: FormulaSides | None, transforms: Transforms) -> None:
        """Carry the table, where the script reads it from a file, and its changed columns."""
        argument = self.given.get("data")
        made = self.given.get("mlTransforms")
        categories = {
            one: made
            for one in transforms.categories.values()
            if _is_feature(one, formula, transforms)
        }
        if argument is not None:
            data = argument.value
            changes = data.changes if isinstance(data, ChangedValue) else ()
            found = table_file(data.value if isinstance(data, ChangedValue) else data)
            if found is None:
                self.done.comments.append(f"Export the rows of: {argument.written}")
                if self.call.query is not None:
                    lines = self.call.query.strip("\r\n").splitlines()
                    self.done.comments += ["Their query:", *(f"  {one}" for one in lines)]
                why = f"export {argument.written} to the table of 'train'"
                self._list_lost("data", argument.line, why, "train")
            else:
                self._key("train", found.path, argument)
                for key, value in found.settings.items():
                    self._key(key, value, argument)
                for what, line, why in found.lost:
                    self._list_lost(what, line, why)
            for column, line in self._factors(changes, exported=found is None):
                if _is_feature(column, formula, transforms):
                    place = GivenArgument("factor", None, line, column)
                    categories.setdefault(column, place)
        source = next((one for one in categories.values() if one is not None), None)
        if source is not None:
            self._key("categorical", list(categories), source)

    def _factors(
        self, changes: Sequence[ColumnChange], *, exported: bool
    ) -> Sequence[tuple[str, int]]:
        """Return the columns of a table that are made categories; list other changes as lost."""
        found = []
        for change in changes:
            factor = factor_of(change)
            if factor is None:
                why = "is done before the table is written" if exported else "do it in the table"
                self._list_lost("data", change.line, f"{change.written}: {why}")
                continue
            found.append((factor.column, change.line))
            if not factor.in_our_order:
                levels = ", ".join(factor.levels or ())
                why = f"levels are in order of their names here, not as {levels}"
                self._list_lost(f"factor of {factor.column}", change.line, why)
        return found

    def _task(self) -> str:
        argument = self.given.get("type")
        if argument is None:
            self._host_key("task", "binary", "type", self.default)
            return "binary"
        task = TASKS.get(argument.value.lower()) if isinstance(argument.value, str) else None
        if task is None:
            self._list_lost(
                "type", argument.line, f"{argument.written} is not a known task", "task"
            )
            return "classification"
        self._key("task", task, argument)
        return task

    def _optimizer(self) -> None:
        argument = self.given.get("optimizer")
        if argument is None:
            self._host_key("optimizer", "sgd", "optimizer", self.default)
            self._host_key("learning_rate", 0.001, "learningRate", self.default)
            return
        value = argument.value
        if isinstance(value, str):
            value = HostCall(value, [], argument.line)
        rule = OPTIMIZER_CALLS.get(value.name) if isinstance(value, HostCall) else None
        if rule is None or not isinstance(value, HostCall):
            self._list_lost(
                "optimizer", argument.line, f"{argument.written} is known only at run time"
            )
            return
        self._key("optimizer", rule, argument)
        rates = False
        places = iter(_RULE_PLACES[rule])
        for one in value.arguments:
            name = one.written if one.name == REST else one.name or next(places, "")
            rates = rates or one.name == REST
            row = _RULES.get(plain_name(name))
            belongs = row is not None and (row.key.startswith("adadelta") == (rule == "adadelta"))
            rates = rates or (row is not None and row.key == "learning_rate")
            if (
                row is None
                or not belongs
                or not (isinstance(one.value, bool) or _is_number(one.value))
            ):
                why = f"{one.written} is not carried over"
                self._list_lost(f"optimizer: {name or one.written}", one.line, why)
                continue
            self._key(row.key, one.value, one, name=name)
        if rule == "sgd" and not rates:
            self._host_key("learning_rate", 0.001, "learningRate", self.default)

    def _plain(self, row: HostArgument) -> None:
        argument = self.given.get(row.r)
        if argument is None:
            self._host_key(row.key, row.default, row.r, self.default)
        elif _is_number(argument.value):
            self._key(row.key, argument.value, argument)
        elif argument.value is not None:
            self._list_lost(row.r, argument.line, f"{argument.written} is known only at run time")

    def _normalizer(self) -> None:
        argument = self.given.get("normalize")
        if argument is None:
            self._host_key("normalizer", "minmax-zero", "normalize", f'{self.default}, "auto"')
            return
        value = argument.value
        known = NORMALIZERS.get(value.lower()) if isinstance(value, str) else None
        if known is None:
            self._list_lost("normalize", argument.line, f"{argument.written} is not carried over")
        else:
            self._key("normalizer", known, argument, f'"{value}" there')

    def _loss(self) -> None:
        argument = self.given.get("loss_function")
        if argument is None:
            return
        value = argument.value
        name = value.name if isinstance(value, HostCall) else value
        known = LOSSES.get(name.lower()) if isinstance(name, str) else None
        if known is None:
            self._list_lost(
                "loss_function", argument.line, f"{argument.written} is not carried over"
            )
        else:
            self._key("loss", known, argument)

    def _definition(self, task: str) -> None:
        self._plain(_HIDDEN_NODES)
        argument = self.given.get("netDefinition")
        if argument is None and self.rest is not None:
            why = f"{self.rest.written} may give it"
            self._list_lost("netDefinition", self.rest.line, why)
            return
        if argument is None or argument.value in (None, ""):
            hidden = self.given.get("numHiddenNodes")
            if hidden is not None and not isinstance(hidden.value, int):
                return
            self.done.own_net = True
            self.done.net = host_network(task)
            return
        value: HostValue = argument.value
        if isinstance(value, FileText):
            text = self.read(value.path)
            if text is None:
                why = f"{value.path} is not there, or outside the folders that are read (--root)"
                self._list_lost("netDefinition", argument.line, why)
                return
            self.done.net_file, value = value.path, text
        if not isinstance(value, str):
            self._list_lost("netDefinition", argument.line, "it is put together at run time")
            return
        if isinstance(argument.value, str) and _is_path(value):
            why = (
                f"{argument.written} is the name of a file where the hosts take the text of Net#; "
                f"read the file there, with {_READS.get(self.call.name, 'paste(readLines(...))')}"
            )
            self._list_lost("netDefinition", argument.line, why)
            self.done.no_net = value
            return
        self.done.net = value.strip("\n") + "\n"


def _is_feature(column: str, formula: FormulaSides | None, transforms: Transforms) -> bool:
    """Return whether a column of the table is an input of the network."""
    if formula is None:
        return True
    if formula.columns is None:
        return column not in (formula.label, *formula.exclude)
    return any(column in transforms.inputs_of(one) for one in formula.columns)


def _is_path(text: str) -> bool:
    """Return whether a text names a file, as no text of Net# does."""
    return _PATH.fullmatch(text.strip()) is not None


def _places(call: HostCall) -> Iterator[str]:
    """Yield the arguments that a call gives by place, without those that it gives by name."""
    named = {id(_row(one.name)) for one in call.arguments if _row(one.name) is not None}
    names = {one.name for one in call.arguments}
    every = PLACES.get(call.name, USUAL_PLACES)
    return (one for one in every if one not in names and id(_row(one)) not in named)


def _row(name: str) -> HostArgument | None:
    return _ROWS.get(plain_name(name))


def _is_number(value: HostValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _section(key: str) -> str:
    """Return the section of a run file that a key belongs to."""
    return "data" if key in DATA_KEYS else "train"
