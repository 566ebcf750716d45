"""A call of the hosts as a specification and a run file, and a list of what these do not say.

Knows the table of arguments; reads no disk and no script.
"""

from __future__ import annotations

import re

from netsharp_lsp.importing.arguments import (
    ARGUMENTS,
    LOSSES,
    NORMALIZERS,
    OPTIMIZER_CALLS,
    OPTIMIZERS,
    TASKS,
    by_plain_name,
)
from netsharp_lsp.importing.values import FileText, GivenArgument, HostCall, ModelFormula

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.importing.arguments import HostArgument
    from netsharp_lsp.importing.values import HostValue

_ROWS = by_plain_name(ARGUMENTS)
_RULES = by_plain_name(OPTIMIZERS)
_HIDDEN_NODES = _ROWS["numhiddennodes"]
_BY_PLACE = ("formula", "data")
_FORMULA = re.compile(r"\s*([A-Za-z.][\w.]*)\s*~\s*(.+)", re.DOTALL)
_COLUMN = re.compile(r"[A-Za-z.][\w.]*")
_OUTPUTS = {"binary": "[1] sigmoid", "multiclass": "auto softmax", "regression": "[1] linear"}


class NotCarried:
    """What a call says and no file: the argument, its line in the script, and why."""

    __slots__ = ("argument", "line", "why")

    def __init__(self, argument: str, line: int, why: str) -> None:
        self.argument = argument
        self.line = line
        self.why = why


class ImportedCall:
    """A call as files: `net` is None where the definition is not known; `left` is what is lost."""

    __slots__ = ("left", "line", "net", "run_file", "target")

    def __init__(self, call: HostCall) -> None:
        self.line = call.line
        self.target = call.target
        self.net: str | None = None
        self.run_file = ""
        self.left: list[NotCarried] = []


def imported(call: HostCall, script: str, read: Callable[[str], str | None]) -> ImportedCall:
    """Return a call of `script` as files; `read` returns the text of a file that it names."""
    return _Translation(call, script, read).done


class _Translation:
    """One translation."""

    __slots__ = ("call", "comments", "data", "done", "given", "read", "script", "train")

    def __init__(self, call: HostCall, script: str, read: Callable[[str], str | None]) -> None:
        self.call = call
        self.script = script
        self.read = read
        self.done = ImportedCall(call)
        self.comments: list[str] = []
        self.data: list[str] = []
        self.train: list[str] = []
        self.given: dict[str, GivenArgument] = {}
        self._sort()
        self._formula()
        self._table()
        task = self._task()
        self._key("host", "rx")
        self._optimizer()
        for name in ("numIterations", "miniBatchSize", "initWtsDiameter", "maxNorm"):
            self._plain(_ROWS[name.lower()])
        self._normalizer()
        self._loss()
        self._definition(task)
        if call.inside is not None:
            self._lose(call.inside, call.line, "one model is trained here, not an ensemble")
        self._finish()

    def _lose(self, argument: str, line: int, why: str) -> None:
        self.done.left.append(NotCarried(argument, line, why))

    def _sort(self) -> None:
        """Give each argument its row; what has none, or no place here, is lost by name."""
        places = iter(_BY_PLACE)
        for argument in self.call.arguments:
            name = argument.name or next(places, "")
            row = _ROWS.get(name.replace("_", "").replace(".", "").lower())
            if row is None:
                self._lose(name or argument.written, argument.line, "it is not known here")
                continue
            known = row.r or row.python
            self.given[known] = argument
            if row.becomes.startswith("report") and argument.value is not None:
                self._lose(name, argument.line, f"{argument.written} is not carried over")

    def _key(
        self, key: str, value: object, comment: str = "", rows: list[str] | None = None
    ) -> None:
        target = self.train if rows is None else rows
        target.append(f"{key} = {_toml(value)}" + (f"  # {comment}" if comment else ""))

    def _formula(self) -> None:
        argument = self.given.get("formula")
        if argument is None:
            self._lose("formula", self.call.line, "it is missing, so the label is not known")
            return
        value = argument.value
        text = (
            value.text
            if isinstance(value, ModelFormula)
            else value
            if isinstance(value, str)
            else ""
        )
        found = _FORMULA.fullmatch(text)
        if found is None:
            self._lose("formula", argument.line, f"{argument.written} is known only at run time")
            return
        label, right = found.groups()
        self._key("label", label, rows=self.data)
        columns = [one.strip() for one in right.split("+")]
        if columns == ["."]:
            return
        wrong = [one for one in columns if _COLUMN.fullmatch(one) is None or one == "."]
        for term in wrong:
            self._lose("formula", argument.line, f"'{term}' is no column: compute it beforehand")
        columns = [one for one in columns if one not in wrong]
        self.comments.append(f"The columns beside the label: {', '.join(columns)}.")
        self._lose(
            "formula",
            argument.line,
            f"export these columns and {label} alone: {', '.join(columns)}",
        )

    def _table(self) -> None:
        argument = self.given.get("data")
        if argument is None:
            return
        self.comments.append(f"Export the rows of: {argument.written}")
        self._lose("data", argument.line, f"export {argument.written} to the table of 'train'")

    def _task(self) -> str:
        argument = self.given.get("type")
        if argument is None:
            self._key("task", "binary", "the host's default")
            return "binary"
        task = TASKS.get(argument.value.lower()) if isinstance(argument.value, str) else None
        if task is None:
            self._lose("type", argument.line, f"{argument.written} is no task that is known")
            return "classification"
        self._key("task", task)
        return task

    def _optimizer(self) -> None:
        argument = self.given.get("optimizer")
        if argument is None:
            self._key("optimizer", "sgd", "the host's default")
            self._key("learning_rate", 0.001, "the host's default")
            return
        value = argument.value
        if isinstance(value, str):
            value = HostCall(value, [], argument.line)
        rule = OPTIMIZER_CALLS.get(value.name) if isinstance(value, HostCall) else None
        if rule is None or not isinstance(value, HostCall):
            self._lose("optimizer", argument.line, f"{argument.written} is known only at run time")
            return
        self._key("optimizer", rule)
        rates = False
        for one in value.arguments:
            row = _RULES.get(one.name.replace("_", "").lower())
            belongs = row is not None and (row.key.startswith("adadelta") == (rule == "adadelta"))
            if row is None or not belongs or not _is_scalar(one.value):
                why = f"{one.written} is not carried over"
                self._lose(f"optimizer: {one.name or one.written}", one.line, why)
                continue
            rates = rates or row.key == "learning_rate"
            self._key(row.key, one.value)
        if rule == "sgd" and not rates:
            self._key("learning_rate", 0.001, "the host's default")

    def _plain(self, row: HostArgument) -> None:
        argument = self.given.get(row.r)
        if argument is None:
            self._key(row.key, row.default, "the host's default")
        elif isinstance(argument.value, int | float) and not isinstance(argument.value, bool):
            self._key(row.key, argument.value)
        elif argument.value is not None:
            self._lose(row.r, argument.line, f"{argument.written} is known only at run time")

    def _normalizer(self) -> None:
        argument = self.given.get("normalize")
        if argument is None:
            self._key("normalizer", "minmax-zero", 'the host\'s default, "auto"')
            return
        value = argument.value
        known = NORMALIZERS.get(value.lower()) if isinstance(value, str) else None
        if known is None:
            self._lose("normalize", argument.line, f"{argument.written} is not carried over")
        else:
            self._key("normalizer", known, f'"{value}" there')

    def _loss(self) -> None:
        argument = self.given.get("loss_function")
        if argument is None:
            return
        value = argument.value
        name = value.name if isinstance(value, HostCall) else value
        known = LOSSES.get(name.lower()) if isinstance(name, str) else None
        if known is None:
            self._lose("loss_function", argument.line, f"{argument.written} is not carried over")
        else:
            self._key("loss", known)

    def _definition(self, task: str) -> None:
        self._plain(_HIDDEN_NODES)
        argument = self.given.get("netDefinition")
        if argument is None or argument.value in (None, ""):
            hidden = self.given.get("numHiddenNodes")
            if hidden is not None and not isinstance(hidden.value, int):
                return
            self.done.net = (
                "// The host's own network: one hidden layer.\n"
                "input Data auto;\nhidden Hidden auto sigmoid from Data all;\n"
                f"output Result {_OUTPUTS.get(task, 'auto')} from Hidden all;\n"
            )
            return
        value: HostValue = argument.value
        if isinstance(value, FileText):
            text = self.read(value.path)
            if text is None:
                self._lose("netDefinition", argument.line, f"{value.path} cannot be read")
                return
            value = text
        if not isinstance(value, str):
            self._lose("netDefinition", argument.line, "it is put together at run time")
            return
        self.done.net = value.strip("\n") + "\n"

    def _finish(self) -> None:
        lines = [f"# Taken from {self.script}, line {self.call.line}: {self.call.name}."]
        lines += [f"# {_one_line(comment)}" for comment in self.comments]
        lines += ["", "[data]", '# train = "rows.csv"  # name the exported table here', *self.data]
        lines += ["", "[train]", *self.train]
        self.done.run_file = "\n".join(lines) + "\n"


def _is_scalar(value: HostValue) -> bool:
    return isinstance(value, bool | int | float)


def _one_line(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)
