"""The block ParallelTrain of several workers: the values that they exchange, and the notice about
it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from netsharp_engine.cntk.descent.sharing import GRADIENTS, Sharing
from netsharp_engine.excerpt import excerpt
from netsharp_lsp.cntk.training.options import Options

_METHODS = {
    "modelaveragingsgd": "average their models",
    "blockmomentumsgd": "average their models with a momentum of blocks",
    "dataparallelasgd": "change the parameters without waiting for each other",
}
_EXCHANGING, _AVERAGING, _MOVING = "dataparallelsgd", "modelaveragingsgd", "blockmomentumsgd"
_IGNORED = "parallelTrain option is not enabled. ParallelTrain config will be ignored."
#: Samples of all workers between two averages, and of one, by CNTK's defaults.
_BLOCK, _OF_ONE = 40_000, 120_000


class TrainedTogether(NamedTuple):
    """A line of CNTK's log, a notice (each empty for none), and what is exchanged.

    ``shares``: several processes train, else one does.
    """

    line: str = ""
    notice: str = ""
    exchanged: Sharing = GRADIENTS
    shares: bool = False

    @property
    def adds_gradients(self) -> bool:
        """Return whether processes add up their gradients in each step, and not blocks of steps."""
        return self.shares and not self.exchanged.block


def trained_together(around: Options, sgd: Options, dtype: str, workers: int) -> TrainedTogether:
    """Return how `workers` processes share the training of a configuration."""
    is_on = around.truth("parallelTrain", False)
    found = sgd.found("ParallelTrain")
    if workers == 1 or not is_on:
        line, notice = _of_one_process(is_on, sgd, dtype)
        if workers > 1:
            notice = f"parallelTrain is not true, so that one of the {workers} processes trains."
        return TrainedTogether(line, notice)
    if found is None:
        return TrainedTogether("", f"{workers} processes exchange gradients.", GRADIENTS, True)
    options = Options(sgd.scope.inside(found))
    method = options.text("parallelizationMethod", "none").lower()
    first = max(options.whole("parallelizationStartEpoch", 1) - 1, 0)
    if method == _AVERAGING:
        return _averaging(_inside(options, "ModelAveragingSGD"), first, workers)
    if method == _MOVING:
        return _moving(_inside(options, "BlockMomentumSGD"), first, workers)
    notice = f"{workers} processes exchange gradients."
    if method not in (_EXCHANGING, "none"):
        notice += (
            f" The method '{method}' is not supported: they wait for each other at every step."
        )
    elif any(one != _width(dtype) for one in _bits(options)):
        notice += " gradientBits is without effect: all bits are exchanged."
    return TrainedTogether("", notice, Sharing(first), True)


def require_fitting(
    blocks: Mapping[str, Any], values: Mapping[str, Any], learnt: Iterable[str]
) -> None:
    """Raise ValueError where a stored momentum of blocks is not that of the parameters: each of
    ``learnt`` has one, or none has.
    """
    for name in learnt if blocks else ():
        if name not in blocks:
            raise ValueError(f"'{excerpt(name)}' has no momentum of blocks")
    for name, found in blocks.items():
        if name not in values or values[name].size != found.size:
            raise ValueError(f"'{excerpt(name)}' has a momentum of blocks of another size")
        if not all(map(math.isfinite, (found.min(initial=0), found.max(initial=0)))):
            raise ValueError(f"'{excerpt(name)}' has a momentum of blocks that is not finite")


def _averaging(block: Options, first: int, workers: int) -> TrainedTogether:
    """Return means of models after each block of samples."""
    samples = _block_of(block, workers, _BLOCK * workers)
    notice = f"{workers} processes average their models every {samples:,} samples."
    return TrainedTogether("", notice, Sharing(first, samples), True)


def _moving(block: Options, first: int, workers: int) -> TrainedTogether:
    """Return means with a momentum; the default is 1 - 1 / workers."""
    samples = _block_of(block, workers, _OF_ONE * workers)
    momentum = block.real("blockMomentumPerSync", 1 - 1 / workers)
    constant = block.real("blockMomentumAsTimeConstant", math.nan)
    if constant > 0:
        momentum = math.exp(-samples / constant)
    sharing = Sharing(
        first,
        samples,
        momentum,
        block.truth("useNesterovMomentum", True),
        block.real("blockLearningRate", 1.0),
        block.truth("resetSGDMomentum", True),
    )
    notice = (
        f"{workers} processes average their models every {samples:,} samples, with a block "
        f"momentum of {momentum:.4g}."
    )
    return TrainedTogether("", notice, sharing, True)


def _block_of(block: Options, workers: int, otherwise: int) -> int:
    """Return the samples of all workers between two averages."""
    whole = block.whole("blockSize", 0)
    for name in ("blockSizePerWorker", "syncPeriod", "syncFrequencyInFrames"):
        whole = whole or workers * block.whole(name, 0)
    return whole or otherwise


def _of_one_process(is_on: bool, sgd: Options, dtype: str) -> tuple[str, str]:
    """Return the line and the notice where one process trains."""
    found = sgd.found("ParallelTrain")
    if not is_on:
        return (_IGNORED, "") if found is not None else ("", "")
    notice = "one process trains. With --procs N, N processes train."
    if found is None:
        return "", notice
    options = Options(sgd.scope.inside(found))
    method = options.text("parallelizationMethod", "none").lower()
    if method in _METHODS:
        return "", f"{notice} Several would {_METHODS[method]}, with different results."
    bits = _bits(options) if method == _EXCHANGING else []
    if any(one != _width(dtype) for one in bits):
        fewest = min(one for one in bits if one != _width(dtype))
        notice += (
            f" CNTK would exchange gradients rounded to {fewest} "
            f"bit{'s' * (fewest != 1)}, with different results."
        )
    elif method == _EXCHANGING:
        notice += " Several that exchange their gradients give the same results."
    return "", notice


def _width(dtype: str) -> int:
    """Return the bits of a number."""
    return 8 * (4 if dtype == "float32" else 8)


def _bits(options: Options) -> list[int]:
    """Return the bits of an exchanged number, epoch by epoch; empty where all are kept."""
    return _inside(options, "DataParallelSGD").wholes("gradientBits")


def _inside(options: Options, name: str) -> Options:
    """Return the options of a nested block; options that are not given there are not looked up
    elsewhere.
    """
    block = options.found(name)
    return options if block is None else Options(options.scope.inside(block))
