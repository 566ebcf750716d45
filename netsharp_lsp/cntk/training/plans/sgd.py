"""The block SGD as a training plan."""

from __future__ import annotations

from netsharp_engine.cntk.descent.adjusting import BEFORE
from netsharp_engine.cntk.descent.rules import Updates
from netsharp_engine.cntk.descent.schedules import (
    PER_MINIBATCH,
    PER_SAMPLE,
    TIME_CONSTANT,
    Noise,
    Schedule,
)
from netsharp_engine.cntk.descent.training import LEAST_RATE, TrainingPlan
from netsharp_engine.cntk.samples.minibatches import Parts
from netsharp_lsp.cntk.training.networks.lowering import multipliers, normalizing
from netsharp_lsp.cntk.training.plans.auto_adjust import (
    NOT_NEGATIVE,
    POSITIVE,
    adjusting_of,
    demand,
)
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Network
    from netsharp_lsp.cntk.training.options import Options

#: Options by the unit of what they give.
_RATES = {"learningRatesPerSample": PER_SAMPLE, "learningRatesPerMB": PER_MINIBATCH}
_MOMENTA = {
    "momentumPerMB": PER_MINIBATCH,
    "momentumPerSample": PER_SAMPLE,
    "momentumAsTimeConstant": TIME_CONSTANT,
}
#: Kinds of rules by the words of gradUpdateType.
_KINDS = {
    **dict.fromkeys(("none", "normal", "simple", ""), "smoothed"),
    "adagrad": "adagrad",
    "fsadagrad": "fsadagrad",
    "rmsprop": "rmsprop",
}
#: Constants of rules by their options, with the defaults.
_CONSTANTS = {
    "target": ("fsAdagradTargetAvDenom", 1.0),
    "inc": ("rms_wgt_inc", 1.2),
    "dec": ("rms_wgt_dec", 0.75),
    "max": ("rms_wgt_max", 10.0),
    "min": ("rms_wgt_min", 0.1),
    "gamma": ("rms_gamma", 0.99),
}


def plan_of(options: Options, dtype: str, network: Network, criterion: str) -> TrainingPlan:
    """Return the plan of a block; Refused where it contradicts itself or is incomplete.

    `criterion` is the node that may evaluate epochs instead of the trained criterion.
    """
    sizes = options.wholes("minibatchSize") or [256]
    demand(options, "minibatchSize", min(sizes) > 0, "has to be 1 or more")
    adjusting = adjusting_of(options, criterion, sizes)
    rates = _one_of(options, _RATES)
    if rates is None and adjusting.when == BEFORE:
        rates = [], PER_SAMPLE
    if rates is None:
        where = where_of(options.scope.text)
        lacking = "neither learningRatesPerSample nor learningRatesPerMB is given."
        raise Refused(RunRefusal(lacking, where))
    momenta = _one_of(options, _MOMENTA) or ([0.9], PER_MINIBATCH)
    name = next((name for name in _MOMENTA if options.found(name) is not None), "")
    if momenta[1] == TIME_CONSTANT:
        demand(options, name, min(momenta[0]) >= 0, NOT_NEGATIVE)
    else:
        inside = all(0 <= one < 1 for one in momenta[0])
        demand(options, name, inside, "has to be at least 0 and less than 1")
    options.required("maxEpochs", "SGD")
    epochs = options.whole("maxEpochs", 1)
    demand(options, "maxEpochs", epochs > 0, "has to be 1 or more")
    epoch_size = options.whole("epochSize", 0)
    fits = epoch_size == 0 or epoch_size >= max(sizes)
    demand(options, "epochSize", fits, "is less than minibatchSize")
    return TrainingPlan(
        Schedule(rates[0], rates[1], momenta[0], momenta[1], sizes),
        epochs,
        epoch_size,
        options.whole("numMBsToShowResult", 10),
        options.whole("firstMBsToShowResult", 0),
        options.real("minLearningRatePerSample", LEAST_RATE),
        dtype,
        _updates(options, network),
        adjusting,
        _parts(options),
        _noise(options),
    )


def _parts(options: Options) -> Parts:
    """Return the number of parts in which a minibatch is processed."""
    count, samples = options.whole("numSubminibatches", 1), options.whole("maxSamplesInRAM", 0)
    demand(options, "numSubminibatches", count >= 0, NOT_NEGATIVE)
    demand(options, "maxSamplesInRAM", samples >= 0, NOT_NEGATIVE)
    return Parts(count, samples)


def _noise(options: Options) -> Noise:
    """Return the settings of dropout and batch normalisation."""
    dropout = options.reals("dropoutRate") or [0.0]
    inside = all(0 <= one < 1 for one in dropout)
    demand(options, "dropoutRate", inside, "has to be at least 0 and less than 1")
    constants = (
        options.unbounded_reals(f"batchNormalization{name}") or [0.0]
        for name in ("TimeConstant", "BlendTimeConstant")
    )
    return Noise(dropout, *constants)


def _updates(options: Options, network: Network) -> Updates:
    """Return the update rule of parameters."""
    word = options.text("gradUpdateType", "none")
    kind = _KINDS.get(word.lower(), "")
    demand(options, "gradUpdateType", bool(kind), f"is '{word}', which is not supported yet")
    if options.truth("useAdagrad", False):
        kind = "adagrad"
    constants = {
        one: _at_least(options, name, default) for one, (name, default) in _CONSTANTS.items()
    }
    constants["normalized"] = float(options.truth("normWithAveMultiplier", True))
    variance = options.real("varianceTimeConstant", 720_000.0)
    demand(options, "varianceTimeConstant", variance > 0, POSITIVE)
    clip = options.unbounded("clippingThresholdPerSample")
    demand(options, "clippingThresholdPerSample", clip > 0, POSITIVE)
    free = options.truth("disableRegInBatchNormalization", False)
    unregular = frozenset(normalizing(network) if free else ())
    return Updates(
        kind or "smoothed",
        options.truth("useNAG", False),
        constants,
        variance,
        clip,
        options.truth("gradientClippingWithTruncation", True),
        _at_least(options, "L1RegWeight", 0.0),
        _at_least(options, "L2RegWeight", 0.0),
        noise=_at_least(options, "gaussianNoiseInjectStd", 0.0),
        unregular=unregular,
        multipliers=multipliers(network),
    )


def _at_least(options: Options, name: str, otherwise: float) -> float:
    """Return a number that must not be negative."""
    found = options.real(name, otherwise)
    demand(options, name, found >= 0, NOT_NEGATIVE)
    return found


def _one_of(options: Options, units: dict[str, str]) -> tuple[list[float], str] | None:
    """Return the list of the one option that is given, and its unit."""
    given = [name for name in units if options.found(name) is not None]
    if len(given) > 1:
        found = options.found(given[1])
        assert found is not None
        both = f"{given[0]} and {given[1]} are both given; remove one of them."
        raise Refused(RunRefusal(both, where_of(found.text)))
    return (options.reals(given[0]), units[given[0]]) if given else None
