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
GIT_FILE_BYTES = Limit(
    "a `.gitignore`, or another small file of git", 2**20, "bytes", "it counts as absent"
)
GIT_PATTERNS = Limit(
    "patterns with wildcards in one `.gitignore`", 2_000, "patterns", "the file counts as absent"
)
GIT_INDEX_BYTES = Limit(
    "git's list of the tracked files", 2**28, "bytes", "no file counts as tracked"
)
GIT_OBJECT_BYTES = Limit(
    "one file or folder in a revision of git", 2**26, "bytes", "`describe` and `diff` refuse it"
)

#: Every limit, in the order of the documents.
LIMITS: tuple[Limit, ...] = (
    CONFIGURATION_BYTES,
    EVALUATION_STEPS,
    GIT_FILE_BYTES,
    GIT_PATTERNS,
    GIT_INDEX_BYTES,
    GIT_OBJECT_BYTES,
    *ENGINE_LIMITS,
)
