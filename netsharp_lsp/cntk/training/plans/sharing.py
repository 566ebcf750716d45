"""What a block ParallelTrain asks of several workers, where there is one: what is told of that."""

from __future__ import annotations

from netsharp_lsp.cntk.training.options import Options

_METHODS = {
    "modelaveragingsgd": "average their models",
    "blockmomentumsgd": "average their models with a momentum of blocks",
    "dataparallelasgd": "change the parameters without waiting for each other",
}
_EXCHANGING = "dataparallelsgd"
_IGNORED = "parallelTrain option is not enabled. ParallelTrain config will be ignored."


def told_of_sharing(around: Options, sgd: Options, dtype: str) -> tuple[str, str]:
    """A line of the original's log and a notice; empty where there is nothing to say."""
    is_on = around.truth("parallelTrain", False)
    found = sgd.found("ParallelTrain")
    if not is_on:
        return (_IGNORED, "") if found is not None else ("", "")
    said = "one process trains."
    if found is None:
        return "", said
    options = Options(sgd.scope.inside(found))
    method = options.text("parallelizationMethod", "none").lower()
    if method in _METHODS:
        return "", f"{said} Several would {_METHODS[method]}, and their numbers are others."
    bits = _bits(options) if method == _EXCHANGING else []
    width = 8 * (4 if dtype == "float32" else 8)
    if any(one != width for one in bits):
        fewest = min(one for one in bits if one != width)
        said += (
            f" Several would exchange gradients that are rounded to {fewest} "
            f"bit{'s' * (fewest != 1)}, and their numbers are others."
        )
    elif method == _EXCHANGING:
        said += " Several that exchange their gradients have the same numbers."
    return "", said


def _bits(options: Options) -> list[int]:
    """The bits of an exchanged number, epoch by epoch; none where they are all kept."""
    block = options.found("DataParallelSGD")
    return [] if block is None else Options(options.scope.inside(block)).wholes("gradientBits")
