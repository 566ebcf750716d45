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

# An editor may well open a document of 100 MB.
MESSAGE_BYTES = Limit(
    "one message to the language server",
    256 * 1024 * 1024,
    "bytes",
    "an error is answered and the server ends: what follows cannot be told apart",
)
HEADER_BYTES = Limit(
    "the header of one message to the language server",
    1024 * 1024,
    "bytes",
    "an error is answered and the server ends: what follows cannot be told apart",
)
WAITING_BYTES = Limit(
    "messages that wait in the language server",
    8 * 1024 * 1024,
    "bytes",
    "it reads on when it has answered some of them",
)
UNREAD_BYTES = Limit(
    "what an editor has not yet read of the language server",
    32 * 1024 * 1024,
    "bytes",
    "the oldest lines of logs and of progress are left out, and nothing more is answered until "
    "the editor reads",
)
FINDINGS_SHOWN = Limit(
    "findings that an editor shows of one document",
    1_000,
    "findings",
    "the gravest are shown, and one says how many are left out",
)

# Each takes a microsecond, and each pair that fits as much memory as its weights.
CONDITION_EVALUATIONS = Limit(
    "the condition of one `where` bundle, when a network is trained or applied",
    10_000_000,
    "evaluations",
    "`run`, `predict` and `evaluate` refuse the network",
)
CONDITION_EDGES = Limit(
    "the edges of one `where` bundle, when a network is trained or applied",
    20_000_000,
    "edges",
    "`run`, `predict` and `evaluate` refuse the network",
)

#: Every limit, in the order of the documents.
LIMITS: tuple[Limit, ...] = (
    *(row for row in tuple(globals().values()) if isinstance(row, Limit)),
    CONFIGURATION_BYTES,
    EVALUATION_STEPS,
    CONDITION_EVALUATIONS,
    CONDITION_EDGES,
    *ENGINE_LIMITS,
)
