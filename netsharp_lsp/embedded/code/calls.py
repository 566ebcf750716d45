"""The context that the call with a specification gives it: host, task, hidden nodes.

Only what is written in the call counts; defaults of the called function do not.
"""

from __future__ import annotations

import re

from netsharp_lsp.context import FIELDS, Context, is_count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The argument that holds a specification, in the spelling of `plain`.
DEFINITION = "netdefinition"
_TRAINERS = re.compile(r"(?:rx|mx)?neuralnet(?:work)?(?P<task>multiclass|binary|regress)?\w*")
_TASKS = {
    "multiclass": "multiclass",
    "binary": "binary",
    "regression": "regression",
    "regress": "regression",
}
#: Arguments that name the task and the number of hidden nodes, in the spelling of `plain`.
_TASK_ARGUMENTS = ("type", "method")
_HIDDEN_NODES = "numhiddennodes"


def plain(name: str) -> str:
    """Return a name in lower case without underscores, as that of `netDefinition` in both hosts."""
    return name.replace("_", "").lower()


def context_of(callee: str, arguments: Mapping[str, str | int], line: int) -> Context:
    """Return the context of a call; `arguments` are its literal ones by their plain names.

    `line` is that of the call in the host, from 1.
    """
    name = callee.rpartition(".")[2]
    trainer = _TRAINERS.fullmatch(plain(name))
    context = Context()
    if trainer is None:
        return context
    context.host = "rx"
    context.task = _TASKS.get(trainer.group("task") or "")
    for argument in _TASK_ARGUMENTS:
        task = arguments.get(argument)
        if isinstance(task, str) and task.lower() in _TASKS:
            context.task = _TASKS[task.lower()]
    nodes = arguments.get(_HIDDEN_NODES)
    if isinstance(nodes, int) and is_count(nodes):
        context.hidden_nodes = nodes
    context.origin = dict.fromkeys(context.known(), f"{name}, line {line}")
    return context


def common_context(contexts: Sequence[Context]) -> Context:
    """Return the values that are equal in all calls that share a specification."""
    common = Context()
    for field in FIELDS:
        values = {getattr(context, field) for context in contexts}
        if len(values) == 1 and None not in values:
            setattr(common, field, values.pop())
            common.origin[field] = contexts[0].origin[field]
    return common
