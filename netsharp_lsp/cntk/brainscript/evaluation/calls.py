"""Determines the calls in a user's text that a node comes from; knows scopes and builds nothing.

A function may be created in one call and applied in another, as layers are: its nodes belong to
both, to the call that created it within the call that applies it.  Scopes determine this, not the
order of evaluation.
"""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.evaluation.values import Way
from netsharp_lsp.cntk.networks.node import Calling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.brainscript.evaluation.values import Record, Site

#: Functions that only join others: nodes of these are not nested in them.
JOINING = frozenset(("Sequential",))
#: The deepest nesting of calls that is kept; deeper nodes belong to the last of them.
DEEPEST = 32
#: The most enclosing calls that are searched for the one that created a function.
FARTHEST = 64


def call_of(scope: Record, library: frozenset[str]) -> Calling | None:
    """Return the innermost call around a scope; `library` contains the sources that are not the
    user's.
    """
    arguments = _arguments(scope)
    if arguments is None:
        return None
    way = _way(arguments, library)
    return way.calls[-1] if way.calls else None


def call_of_operator(site: Site, library: frozenset[str]) -> Calling | None:
    """Return the call around an operator, which may itself have a name."""
    around = call_of(site.scope, library) if site.scope is not None else None
    variable = "" if site.place.source in library else _variable(site)
    return Calling("", variable, site.place, around) if variable else around


def _way(arguments: Record, library: frozenset[str]) -> Way:
    """Determine the enclosing calls, and those needed for them, without recursion, which may be
    deep.
    """
    waiting = [arguments]
    while waiting:
        one = waiting[-1]
        applied, maker = _applied(one), None
        if one.way is None:
            maker = _maker(one, library) if applied is None or applied.way is not None else None
            needed = [it for it in (applied, maker) if it is not None and it.way is None]
            if needed:
                waiting += needed
                continue
            one.way = _extended_way(one, applied, maker, library)
        waiting.pop()
    assert arguments.way is not None
    return arguments.way


def _extended_way(
    one: Record, applied: Record | None, maker: Record | None, library: frozenset[str]
) -> Way:
    around = applied.way if applied is not None and applied.way is not None else _NOWHERE
    source = maker.way if maker is not None and maker.way is not None else _NOWHERE
    # A composition of layers, without a function of its own, is named by its variable.
    new = [it for it in source.made if it not in around.made] or [one]
    made, calls = list(around.made), list(around.calls)
    for it in new:
        if len(made) < DEEPEST and _is_shown(it, library):
            made.append(it)
            calls.append(_call(it, one if it is new[-1] else it, calls[-1] if calls else None))
    outer_arguments = one if _is_user_call(one, library) else around.outer_arguments
    return Way(tuple(made), tuple(calls), outer_arguments)


_NOWHERE = Way((), (), None)


def _call(made: Record, applied: Record, parent: Calling | None) -> Calling:
    assert made.site is not None
    assert applied.site is not None
    variable = _variable(applied.site) or _variable(made.site)
    return Calling(made.site.called, variable, made.site.place, parent)


def _variable(site: Site) -> str:
    """Return the name that is assigned to the value at a site."""
    return site.scope.name_at(site.place) if site.scope is not None else ""


def _is_user_call(one: Record, library: frozenset[str]) -> bool:
    return one.site is not None and one.site.place.source not in library


def _is_shown(one: Record, library: frozenset[str]) -> bool:
    called = one.site.called if one.site is not None else ""
    return bool(called) and called not in JOINING and _is_user_call(one, library)


def _arguments(scope: Record | None) -> Record | None:
    """Return the arguments of the innermost function whose text contains a scope."""
    while scope is not None and scope.site is None:
        scope = scope.parent
    return scope


def _applied(one: Record) -> Record | None:
    """Return the arguments of the function that contains a call."""
    return _arguments(one.site.scope) if one.site is not None else None


def _maker(one: Record, library: frozenset[str]) -> Record | None:
    """Return the arguments of the finished call that created the called function: a function around
    it in the text that does not enclose the current call.
    """
    around = _arguments(one.parent)
    if around is None:
        return None
    running = set(map(id, _outwards(one)))
    while around is not None:
        if id(around) not in running:
            return around
        around = _arguments(around.parent)
    return None


def _outwards(one: Record) -> Iterator[Record]:
    """Yield the arguments of the calls around a call, and then of those in the user's text."""
    step = _applied(one)
    for _ in range(FARTHEST):
        if step is None:
            return
        yield step
        step = _applied(step)
    for _ in range(FARTHEST):
        if step is None or step.way is None or step.way.outer_arguments is None:
            return
        yield step.way.outer_arguments
        step = _applied(step.way.outer_arguments)
