"""How much of anything is read, evaluated or kept before it is refused with a sentence.

Each row is shown in `docs/limits.md` and named in the sentence that refuses; knows no language.
"""

from __future__ import annotations

from netsharp_engine.limits import LIMITS as ENGINE_LIMITS
from netsharp_engine.limits import Limit

CONFIGURATION_BYTES = Limit(
    "one text in a language of CNTK",
    6 * 1024 * 1024,
    "bytes",
    "`check`, `describe`, `config` and `migrate` refuse it; `fmt` takes it",
)
# Networks of the original's examples take 130,000.
EVALUATION_STEPS = Limit(
    "evaluating one network in BrainScript",
    2_000_000,
    "steps",
    "the evaluation stops with a finding; what was found until then is told",
)

#: Every limit, in the order of the documents.
LIMITS: tuple[Limit, ...] = (CONFIGURATION_BYTES, EVALUATION_STEPS, *ENGINE_LIMITS)
