"""What lies around a text of MEL, as values; goes through none."""

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
    """What is known of a file that holds a model: its nodes with their operations (None: not
    known), a clause that says where that comes from, and the network where all of it is known.
    """

    nodes: Mapping[str, str] | None
    origin: str
    network: Network | None = None


class Dumped(NamedTuple):
    """A file that nodes are written to as text: those of the names, with their numbers or without.

    `network` is None where it is not known, for the reason `why` if there is one; `names` None
    where they are not.
    """

    path: str
    network: Network | None
    why: str
    names: Sequence[str] | None
    has_numbers: bool
    text: Traced


class Revised(NamedTuple):
    """Parameters that take their numbers from a file, as they are where a text says so; `why`
    none does, where that is known.
    """

    parameters: Sequence[Node]
    why: str
    text: Traced


class Surroundings(NamedTuple):
    """What lies around a text.

    `loaded` tells what a file of a model holds, None where nothing writes it and it is not there;
    `sections` the blocks of an NDL file by their keys, None where it is not there; `made` the nodes
    that a call of NDL makes, with their operations, by what follows the call's name, None where the
    function is not known; `is_outside` whether nothing can be known of a file.  `complete`: what is
    not found is not there.
    """

    loaded: Callable[[str], Known | None]
    sections: Callable[[str], Mapping[str, Traced] | None]
    made: Callable[[str], dict[str, str] | None]
    is_outside: Callable[[str], bool]
    complete: bool = True
    macros: tuple[Part, ...] = ()
    measure: Measure = not_measured
