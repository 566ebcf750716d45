"""The settings of a command of the action SVD, and its resulting network as far as it is known
before the numbers are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from netsharp_engine.cntk.stored.splitting import KeptShare, split_shapes
from netsharp_lsp.cntk.training.networks.models import LearntNetwork, remade
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of
from netsharp_lsp.cntk.training.samples.word_lists import required_lines, where_of_option

if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Network
    from netsharp_lsp.cntk.run.files import RunFiles

#: What is repeated as a whole may be tried in more ways than anyone waits for.
REPEATED_GROUP = re.compile(r"\)[*+?{]|\\[1-9]")


def kept_shares(options: Options, files: RunFiles) -> list[KeptShare]:
    """Read which parameters are split and how much of them is kept, in the order of the patterns.

    ActionsLib/OtherActions.cpp, DoParameterSVD.
    """
    single = options.text("NodeNameRegex")
    if single:
        return [_share(options, single, options.real("KeepRatio", 0.4), "NodeNameRegex")]
    if not options.path("SVDConfig"):
        reason = "neither 'NodeNameRegex' nor 'SVDConfig' selects parameters."
        raise Refused(RunRefusal(reason, where_of(options.scope.text)))
    found: dict[str, KeptShare] = {}
    for number, line in enumerate(required_lines(options, "SVDConfig", files), 1):
        cells = line.decode("utf-8", "replace").split()
        if not cells:
            continue
        try:
            pattern, kept = cells
            found[pattern] = _share(options, pattern, float(kept), "SVDConfig")
        except ValueError:
            reason = (
                f"'{options.path('SVDConfig')}', line {number:,}: expected a pattern of names and "
                "a share."
            )
            raise Refused(RunRefusal(reason, where_of_option(options, "SVDConfig"))) from None
    return [found[pattern] for pattern in sorted(found)]


def _share(options: Options, pattern: str, kept: float, key: str) -> KeptShare:
    where = where_of_option(options, key)
    if not 0 <= kept <= 1:
        raise Refused(RunRefusal(f"the share {kept:g} is not from 0 to 1.", where))
    if REPEATED_GROUP.search(pattern):
        reason = (
            f"'{key}' repeats a group ({pattern}), which is not supported. Write the pattern "
            "without it."
        )
        raise Refused(RunRefusal(reason, where))
    try:
        return KeptShare(re.compile(pattern), kept)
    except re.error as error:
        raise Refused(RunRefusal(f"'{pattern}' is not a valid pattern: {error}.", where)) from None


def split_network(network: Network, options: Options, files: RunFiles, path: str) -> Network:
    """Return the network that the action writes to a path: all nodes with their shapes, with the
    number of kept singular values at its maximum.
    """
    shares = kept_shares(options, files)
    whole = LearntNetwork(network, {}, "float32")
    return remade(whole, lambda nodes: split_shapes(nodes, shares), path).network
