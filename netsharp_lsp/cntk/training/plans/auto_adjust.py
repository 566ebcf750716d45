"""The block AutoAdjust as the adjustments between epochs."""

from __future__ import annotations

from netsharp_engine.cntk.descent.adjusting import AFTER, BEFORE, NEVER, Adjusting, Sizes
from netsharp_engine.cntk.descent.schedules import of_epoch
from netsharp_lsp.cntk.configuration.options import block
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: When a rate is sought, by the words for it.
_WHEN = {
    **dict.fromkeys(("none", "false", ""), NEVER),
    **dict.fromkeys(("adjustafterepoch", "afterepoch", "after"), AFTER),
    **dict.fromkeys(("searchbeforeepoch", "beforeepoch", "before"), BEFORE),
}
#: Minibatches of a trial.
_TRIAL = 500
POSITIVE, NOT_NEGATIVE = "has to be more than 0", "must not be negative"


def adjusting_of(around: Options, criterion: str, sizes: Sequence[int]) -> Adjusting:
    """Return the adjustments that the block in a block SGD sets, with its minibatch sizes; none
    without a block.
    """
    found = around.found("AutoAdjust")
    if found is None:
        return Adjusting()
    options = Options(around.scope.inside(found))
    word = options.text("autoAdjustLR", "none")
    when = _WHEN.get(word.lower(), "")
    demand(options, "autoAdjustLR", bool(when), f"is '{word}', which is not supported yet")
    decrease = options.real("learnRateDecreaseFactor", 0.618)
    demand(options, "learnRateDecreaseFactor", 0 <= decrease <= 1, "has to be from 0 to 1")
    increase = options.real("learnRateIncreaseFactor", 1.382)
    demand(options, "learnRateIncreaseFactor", increase >= 1, "has to be 1 or more")
    by_evaluation = options.truth("UseEvalCriterionControlLR", False)
    return Adjusting(
        when,
        max(options.whole("learnRateAdjustInterval", 1), 1),
        options.real("reduceLearnRateIfImproveLessThan", 0.0),
        decrease,
        options.unbounded("increaseLearnRateIfImproveMoreThan"),
        increase,
        options.truth("continueReduce", False),
        options.truth("loadBestModel", True),
        options.truth("UseCVSetControlLRIfCVExists", True),
        criterion if by_evaluation else "",
        _counted(options, "numPrevLearnRates", 5),
        options.whole("numBestSearchEpoch", 1),
        _samples(options, sizes),
        _sizes(options),
    )


def ignored_options(around: Options) -> list[str]:
    """Return options of the block that are written outside it while there is none, and so are not
    read.
    """
    table = block("AutoAdjust")
    if table is None or around.found("AutoAdjust") is not None:
        return []
    return [option.name for option in table if around.found(option.name) is not None]


def _samples(options: Options, sizes: Sequence[int]) -> Sequence[int]:
    """Return the samples of a trial, epoch by epoch."""
    minibatches = options.wholes("numMiniBatch4LRSearch")
    if minibatches:
        demand(options, "numMiniBatch4LRSearch", min(minibatches) >= 0, NOT_NEGATIVE)
        return [one * of_epoch(sizes, epoch) for epoch, one in enumerate(minibatches)]
    samples = options.wholes("numSamples4Search")
    demand(options, "numSamples4Search", min(samples, default=0) >= 0, NOT_NEGATIVE)
    return samples or [_TRIAL * one for one in sizes]


def _sizes(options: Options) -> Sizes | None:
    """Return the options of the search for minibatch sizes, None where there is no search."""
    largest = _counted(options, "minibatchSizeTuningMax", 1_048_576)
    frequency = _counted(options, "minibatchSizeTuningFrequency", 1)
    margin = options.whole("minibatchSearchCriterionErrorMargin", 1)
    demand(options, "minibatchSearchCriterionErrorMargin", margin >= 0, NOT_NEGATIVE)
    wanted = options.truth("autoAdjustMinibatch", False)
    return Sizes(largest, frequency, float(margin)) if wanted else None


def _counted(options: Options, name: str, otherwise: int) -> int:
    found = options.whole(name, otherwise)
    demand(options, name, found > 0, "has to be 1 or more")
    return found


def demand(options: Options, name: str, holds: bool, rule: str) -> None:
    """Refuse the value of an option that does not satisfy a rule."""
    found = options.found(name)
    if not holds and found is not None:
        raise Refused(RunRefusal(f"'{name}' {rule}.", where_of(found.text)))
