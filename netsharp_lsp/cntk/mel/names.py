"""The faults of unknown nodes and models in a text of MEL.  Knows no function of MEL."""

from __future__ import annotations

from netsharp_lsp.cntk.mel.faults import EditFault, Replacement
from netsharp_lsp.cntk.mel.reading import word
from netsharp_lsp.diagnostics.nearest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.mel.models import Model, Models

#: The most names that are listed if one is not found.
MOST_LISTED = 5


def no_default(models: Models, text: Traced, what: str) -> EditFault:
    """Return the fault of a missing default model."""
    if models.by_name:
        names = ", ".join(f"'{one.name}'" for one in models.by_name.values())
        do = f"There is {names}: call SetDefaultModel first."
    else:
        do = "Load or create a model first: m = LoadModel(file)."
    return EditFault("no-default", f"{what}, but there is no default model here. {do}", text)


def unknown_model(models: Models, name: Traced, is_error: bool = True) -> EditFault:
    """Return the fault of an unknown model."""
    spelt = word(name)
    gone = models.gone.get(spelt.lower())
    stops = "the edit stops here" if is_error else "CNTK only warns"
    if gone is not None:
        message = f"The model '{spelt}' was unloaded before; {stops}."
        fault = EditFault("unknown-model", message, name, notes=(("It is unloaded here.", gone),))
    else:
        names = [one.name for one in models.by_name.values()]
        near = nearest(spelt, names)
        if near:
            do = f"Did you mean '{near}'?"
        else:
            do = f"There is {', '.join(names)}." if names else "There is none yet."
        repair = Replacement(f"Write '{near}'", name, near, safe=True) if near else None
        message = f"There is no model '{spelt}'; {stops}. {do}"
        fault = EditFault("unknown-model", message, name, repair)
    fault.is_error = is_error
    return fault


def unknown_node(model: Model, name: Traced) -> EditFault:
    """Return the fault of an unknown node."""
    spelt = word(name)
    nodes = list(model.nodes or ())
    inside = [one for one in nodes if one.lower().startswith(f"{spelt.lower()}.")]
    # A migrated network calls what a macro returns by the macro's own name: h1 for h1.y.
    whole = spelt.rpartition(".")[0].lower()
    around = next((one for one in nodes if one.lower() == whole), None)
    near = None if inside else around or nearest(spelt, [*nodes, *model.symbols])
    if inside:
        listed = ", ".join(inside[:MOST_LISTED])
        do = f" A macro's name is not a node; inside it there is {listed}."
    elif near:
        do = f" Did you mean '{near}'?"
    else:
        do = ""
    repair = Replacement(f"Write '{near}'", name, near, safe=not around) if near else None
    message = f"The model '{model.name}' has no node '{spelt}': {model.origin}.{do}"
    return EditFault("unknown-node", message, name, repair)


def no_match(model: Model, pattern: Traced) -> EditFault:
    """Return the fault of a pattern without a match."""
    spelt = word(pattern)
    nodes = list(model.nodes or ())
    head, _, tail = spelt.partition("*")
    if "*" in tail:
        why = " Only the first '*' is a wildcard; a second one is an ordinary character."
    else:
        why = _other_case(nodes, head, tail)
    message = f"'{spelt}' matches no node of the model '{model.name}': {model.origin}.{why}"
    return EditFault("no-match", message, pattern)


def _other_case(nodes: list[str], head: str, tail: str) -> str:
    head, tail = head.lower(), tail.lower()
    near = [one for one in nodes if one.lower().startswith(head) and one.lower().endswith(tail)]
    if near:
        return f" Patterns are case-sensitive: there is {', '.join(near[:MOST_LISTED])}."
    begins = [one for one in nodes if head and one.lower().startswith(head)]
    if begins:
        return f" Names that begin with '{head}': {', '.join(begins[:MOST_LISTED])}."
    return ""
