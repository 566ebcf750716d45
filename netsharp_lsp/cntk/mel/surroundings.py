"""The surroundings of a text of MEL, as values; executes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.networks.starting import not_measured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.ndl.evaluation import Part
    from netsharp_lsp.cntk.networks.node import Network, Node
    from netsharp_lsp.cntk.networks.starting import Measure


class Known(NamedTuple):
    """The known contents of a model file: its nodes with their operations (None: unknown), a clause
    on their origin, and the network if all of it is known.
    """

    nodes: Mapping[str, str] | None
    origin: str
    network: Network | None = None


class Dumped(NamedTuple):
    """A file that nodes are written to as text: those of the names, with or without values.

    `network` is None if it is unknown, for the reason `why` if there is one; `names` is None if
    they are unknown.
    """

    path: str
    network: Network | None
    why: str
    names: Sequence[str] | None
    has_numbers: bool
    text: Traced


class Revised(NamedTuple):
    """Parameters initialized from a file, as they are at that statement; `why`: the reason if there
    are none.
    """

    parameters: Sequence[Node]
    why: str
    text: Traced


class Surroundings(NamedTuple):
    """The values that a text depends on.

    `loaded` returns the contents of a model file, None if it does not exist and is not written;
    `sections` the blocks of an NDL file by key, None if it does not exist; `made` the nodes that a
    call of NDL creates, with their operations, by the suffix of the call's name, None if the
    function is unknown; `is_outside` whether a file is outside the allowed folders. `complete`:
    what is not found does not exist.
    """

    loaded: Callable[[str], Known | None]
    sections: Callable[[str], Mapping[str, Traced] | None]
    made: Callable[[str], dict[str, str] | None]
    is_outside: Callable[[str], bool]
    complete: bool = True
    macros: tuple[Part, ...] = ()
    measure: Measure = not_measured
