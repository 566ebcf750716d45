"""No module imports itself through others, not even for types.

Modules in a circle can only be read as a whole.  A circle that stays has its reason here and,
in the same words, in ARCHITECTURE.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path

from tests.house.test_dependencies import MODULES, ROOT, imports

#: The circles that stay: the room, the modules in it, and the reason.
KEPT: tuple[tuple[str, tuple[str, ...], str], ...] = ()


def listed() -> set[frozenset[str]]:
    return {frozenset(f"{room}{name}" for name in names) for room, names, _ in KEPT}


def imported(module: str, path: Path | None = None) -> frozenset[str]:
    """The modules of ours that a module names, on whatever level and for whatever purpose."""
    return imports(module, path) & MODULES.keys()


def circles(graph: Mapping[str, AbstractSet[str]]) -> set[frozenset[str]]:
    """The sets of nodes that lead to one another (Tarjan's, without recursion)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    waiting: list[str] = []
    found = set()
    for start in sorted(graph):
        way = [] if start in order else [(start, iter(sorted(graph[start])))]
        while way:
            node, following = way[-1]
            if node not in order:
                order[node] = lowest[node] = len(order)
                waiting.append(node)
            step = next(following, None)
            if step is not None:
                if step not in order:
                    way.append((step, iter(sorted(graph[step]))))
                elif step in waiting:
                    lowest[node] = min(lowest[node], order[step])
                continue
            way.pop()
            if way:
                lowest[way[-1][0]] = min(lowest[way[-1][0]], lowest[node])
            if lowest[node] == order[node]:
                place = waiting.index(node)
                if len(waiting) - place > 1:
                    found.add(frozenset(waiting[place:]))
                del waiting[place:]
    return found


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert circles(graph) == {frozenset("abc"), frozenset("de")}
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == set()


def test_imports_of_every_kind_are_read(tmp_path: Path) -> None:
    path = tmp_path / "probe.py"
    path.write_text(
        "from netsharp_lsp.text import edits\n"
        "from . import lines\n"
        "from .decode import decode\n"
        "from ..limits import Limit\n"
        "TYPE_CHECKING = False\n"
        "if TYPE_CHECKING:\n    import netsharp_lsp.context\n"
        "def late():\n    from netsharp_lsp.settings import Settings\n"
    )
    assert imported("netsharp_lsp.text.probe", path) == {
        *("netsharp_lsp.text.edits", "netsharp_lsp.text.lines", "netsharp_lsp.text.decode"),
        *("netsharp_lsp.limits", "netsharp_lsp.context", "netsharp_lsp.settings"),
    }


def test_no_module_imports_itself_through_others() -> None:
    found = circles({name: imported(name) for name in MODULES})
    unexplained = [sorted(circle) for circle in found - listed()]
    assert not unexplained, f"break these circles: {unexplained}"
    gone = [sorted(circle) for circle in listed() - found]
    assert not gone, f"take these off the list, they are broken: {gone}"


def test_every_circle_that_stays_has_its_reason_in_the_architecture() -> None:
    text = " ".join((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split())
    for room, _names, reason in KEPT:
        assert reason.endswith("."), room
        assert reason in text, f"ARCHITECTURE.md does not say why {room} keeps a circle"
