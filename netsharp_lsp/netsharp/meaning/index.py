"""A map from keys to members, where nearly every key has one; knows neither."""

from __future__ import annotations

from netsharp_lsp.generics import Generic, TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

Member = TypeVar("Member", bound="Hashable")


class Index(Generic[Member]):
    """Members by key, in no order. A lone member is kept as it is, several in a set."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[Hashable, Member | set[Member]] = {}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._found

    def __getitem__(self, key: Hashable) -> Collection[Member]:
        """Return the members of a key; nothing where there are none."""
        found = self._found.get(key)
        if found is None:
            return ()
        return found if isinstance(found, set) else (found,)

    def add(self, key: Hashable, member: Member) -> None:
        """Add a member."""
        found = self._found.setdefault(key, member)
        if isinstance(found, set):
            found.add(member)
        elif found is not member:
            self._found[key] = {found, member}

    def remove(self, key: Hashable, member: Member) -> None:
        """Remove a member; nothing happens where it is not one."""
        found = self._found.get(key)
        if found is member:
            del self._found[key]
        elif isinstance(found, set):
            found.discard(member)
            if len(found) == 1:
                self._found[key] = found.pop()
