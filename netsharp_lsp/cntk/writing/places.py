"""Names of nodes as places in nested records, and references from one place to another.

A node's name in BrainScript is the path to the expression that creates it: `a.b[0].c` is a member
of an element of a member.  Knows no node type and no syntax beyond names.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.networks.node import GROUPS
from netsharp_lsp.cntk.vocabulary import KEYWORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from netsharp_lsp.cntk.networks.node import Node

    Path = tuple[str | int, ...]

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*|\[\d{1,6}\])*+")
_STEP = re.compile(r"\w+")
_NOT_IN_WORDS = re.compile(r"[^A-Za-z0-9_]+")
#: The deepest nesting of records that stays readable; a longer name is written as one word.
DEEPEST = 40
#: The most letters of a word that replaces a name.
_LONGEST = 80
#: The most elements of an array that may be missing before its last one.
_GAPS = 4
#: Members of a network that are not nodes.
_TAKEN = frozenset((*KEYWORDS, *(f"{group}Nodes" for group in GROUPS)))
#: The names of the record with aliases of hidden names, and of functions that create a node whose
#: name is a prefix of others.
_AROUND, _MADE = "outer", "node"


def path_of(name: str) -> Path | None:
    """Return the path of a name, None if no text of BrainScript creates that name."""
    if _NAME.fullmatch(name) is None:
        return None
    steps = _STEP.findall(name)
    found = tuple(int(one) if one[0].isdecimal() else one for one in steps)
    if len(found) > DEEPEST or any(one in _TAKEN for one in found):
        return None
    # No text creates the name `a[01]`.
    return found if written(found) == name else None


def written(path: Path) -> str:
    """Return a path as a name: `a.b[0].c`."""
    found = (f"[{one}]" if isinstance(one, int) else f".{one}" for one in path)
    return "".join(found).removeprefix(".")


class Spot:
    """A place: a node, a record of members, an array of elements, or a node with members inside."""

    __slots__ = ("aliases", "items", "members", "node", "path")

    def __init__(self, path: Path) -> None:
        self.path = path
        self.node: Node | None = None
        self.members: dict[str, Spot] = {}
        self.items: dict[int, Spot] = {}
        #: Aliases of hidden names, by the text that they stand for.
        self.aliases: dict[str, str] = {}

    @property
    def is_empty(self) -> bool:
        """Return whether there is no node here or further inside."""
        return self.node is None and all(one.is_empty for one in self.inside())

    def step(self, one: str | int) -> Spot | None:
        """Return the place one step further, None if there is none."""
        return self.items.get(one) if isinstance(one, int) else self.members.get(one)

    def takes(self, one: str | int) -> bool:
        """Return whether a place may be one step further."""
        if isinstance(one, int):
            return not self.members and self.node is None and one < len(self.items) + _GAPS
        return not self.items

    def inside(self) -> Iterator[Spot]:
        """Yield the places one step further, in order."""
        yield from self.members.values()
        yield from (self.items[at] for at in sorted(self.items))


class Places:
    """The places of a network, from its outermost record."""

    def __init__(self) -> None:
        self.root = Spot(())
        self.spots: dict[str, Spot] = {}
        #: The new names of nodes whose names no text creates, or that are not in scope where used.
        self.renamed: dict[str, str] = {}
        self.words: set[str] = set()
        self._counts: dict[str, int] = {}
        self._holders: list[Spot] = []
        self.around = self.made = ""

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> Places:
        """Return the places of nodes: each where its name requires, if that is possible."""
        found = cls()
        found._resolve({node: path_of(node.name) for node in nodes})
        return found

    def _resolve(self, paths: Mapping[Node, Path | None]) -> None:
        self.words.update(
            step for path in paths.values() for step in path or () if isinstance(step, str)
        )
        for node, path in sorted(paths.items(), key=lambda one: (len(one[1] or ()), one[0].name)):
            if path is None or not self._put(node, path):
                self._rename(node, self.root, node.name)
        self.around = self._fresh(_AROUND)
        self.made = self._fresh(_MADE)

    def lift(self, node: Node, home: Spot) -> None:
        """Make a node a member of a record further out, with a new name."""
        spot = self.spots.pop(node.name)
        spot.node = None
        self._rename(node, home, written(spot.path[len(home.path) :]))

    def forget_aliases(self) -> None:
        """Forget aliases of names: places have moved."""
        for spot in self._holders:
            spot.aliases.clear()
        self._holders.clear()

    def chain(self, node: Node) -> list[Spot]:
        """Return the records that contain the expression of a node, from the outermost on."""
        found, here = [self.root], self.root
        for one in self.spots[node.name].path:
            following = here.step(one)
            assert following is not None
            here = following
            if here.members:
                found.append(here)
        return found

    def reference(
        self, chain: list[Spot], node: Node, hidden: frozenset[str] = frozenset()
    ) -> str | Spot:
        """Return the name of a node where an expression is, or the record that it has to be lifted
        to if it is not in scope there.

        `hidden` are names that the expression itself defines.
        """
        target = self.spots[node.name]
        home = None
        for depth in range(len(chain) - 1, -1, -1):
            holder = chain[depth]
            rest = target.path[len(holder.path) :]
            if not rest or target.path[: len(holder.path)] != holder.path:
                continue
            blocked = self._blocked(holder, rest)
            if blocked is not None:
                home = home or blocked
                continue
            first, text = rest[0], written(rest)
            if first in hidden or any(first in one.members for one in chain[depth + 1 :]):
                return self._alias(holder, text)
            return text
        return home or self.root

    @staticmethod
    def _blocked(holder: Spot, rest: Path) -> Spot | None:
        """Return the last record before a node that hides its members, None if none does."""
        here = home = holder
        for one in rest[:-1]:
            following = here.step(one)
            assert following is not None
            if following.node is not None:
                return home
            here = following
            home = here if here.members else home
        return None

    def _alias(self, holder: Spot, text: str) -> str:
        name = holder.aliases.get(text)
        if name is None:
            self._holders.append(holder)
            name = holder.aliases[text] = self._fresh(_NOT_IN_WORDS.sub("_", text).strip("_"))
        return f"{self.around}.{name}"

    def _put(self, node: Node, path: Path) -> bool:
        way, here = [self.root], self.root
        for one in path:
            following = here.step(one)
            if following is None:
                if not here.takes(one):
                    return False
                following = Spot((*here.path, one))
            way.append(following)
            here = following
        if here.items:
            return False
        for before, one, spot in zip(way, path, way[1:], strict=False):
            if isinstance(one, int):
                before.items[one] = spot
            else:
                before.members[one] = spot
        here.node = node
        self.spots[node.name] = here
        return True

    def _rename(self, node: Node, home: Spot, name: str) -> None:
        word = _NOT_IN_WORDS.sub("_", name).strip("_")[:_LONGEST]
        if _WORD.fullmatch(word) is None:
            word = f"n_{word}".rstrip("_")
        spot = Spot((*home.path, self._fresh(word)))
        spot.node = node
        home.members[str(spot.path[-1])] = spot
        self.spots[node.name] = spot
        self.renamed[node.name] = written(spot.path)

    def _fresh(self, word: str) -> str:
        """Return a word that is not part of a name."""
        found = word
        while found in self.words or found in _TAKEN:
            self._counts[word] = number = self._counts.get(word, 1) + 1
            found = f"{word}_{number}"
        self.words.add(found)
        return found
