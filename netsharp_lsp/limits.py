"""The limits of what is read, evaluated or kept before it is refused with a sentence.

Each row is shown in `docs/limits.md` and named in the sentence that refuses; knows no language.
"""

from __future__ import annotations

from netsharp_engine.limits import LIMITS as ENGINE_LIMITS
from netsharp_engine.limits import Limit

SPECIFICATION_BYTES = Limit(
    "a file of Net#, or a file in which specifications are embedded",
    64 * 1024 * 1024,
    "bytes",
    "it is not read",
)
CONFIGURATION_BYTES = Limit(
    "a text in one of CNTK's languages",
    6 * 1024 * 1024,
    "bytes",
    "`check`, `describe`, `config` and `migrate` refuse it; `fmt` formats it",
)
# A specification with a million weights has two million, 200,000 edits of a model as many.
TEXT_WORDS = Limit(
    "a text of Net#, or an embedded specification: its tokens and line ends",
    3_000_000,
    "words",
    "it is not read",
)
# A mark that belongs to nothing takes up to 1.3 kB of a check, a line of a network 5 kB.
TEXT_NAMES = Limit(
    "those of these tokens that are not numbers, signs, commas or line ends",
    1_100_000,
    "words and marks that are not numbers",
    "it is not read",
)
# A word of a network that is formatted or checked takes up to 900 bytes.
CNTK_WORDS = Limit(
    "a text in one of CNTK's languages; also the sum over the files that a configuration, a "
    "network in NDL or BrainScript, or an edit in MEL includes, each counted at every inclusion",
    1_100_000,
    "words",
    "it is not read",
)
OPEN_BRACKETS = Limit("nesting of brackets in such a text", 10_000, "brackets", "it is not read")
# A check takes some times the memory of a formatting.
EXPLAINED_BYTES = Limit(
    "a text with parts that `fmt` cannot format, which it checks to name the cause",
    2**20,
    "bytes",
    "`fmt` names the parts without their cause",
)
CONFIGURATION_FILES = Limit(
    "all files of one configuration, each counted at every inclusion",
    24 * 1024 * 1024,
    "bytes",
    "the rest is not read, which is an error (CK018)",
)
CONDITION_EVALUATIONS = Limit(
    "evaluations of conditions to count the edges of the filtered bundles of one network",
    20_000_000,
    "evaluations",
    "`describe` and `diff` report the counts as unknown; `run` refuses the network",
)
MODELS_COMPARED = Limit(
    "models of epochs that one `cv` command of CNTK evaluates",
    10_000,
    "models",
    "the command is refused",
)
FILTERED_EDGES = Limit(
    "edges of one filtered bundle in training",
    10_000_000,
    "edges",
    "`run` refuses the network",
)
# The deepest networks that anyone trained had a thousand or two.
LAYERS = Limit(
    "layers of one network, in training and prediction",
    10_000,
    "layers",
    "`run`, `predict` and `evaluate` refuse the network; `check` and `describe` accept it",
)
# Places of values are compared with one another, at each keystroke.
DEVICE_LAYERS = Limit(
    "layers of one network whose memory is compared with a target device",
    500,
    "layers",
    "`check` does not check whether the network fits the device (NS140)",
)
# Networks in which every layer reads all earlier ones have some thousands.
BUNDLES = Limit(
    "bundles of one network, in training and prediction",
    50_000,
    "bundles",
    "`run`, `predict` and `evaluate` refuse the network; `check` and `describe` accept it",
)
# Configurations in CNTK's repository include one or two files.
INCLUDES = Limit(
    "inclusions of files in one network in BrainScript",
    500,
    "files",
    "the evaluation stops with a finding (BS066)",
)
INCLUDED_BYTES = Limit(
    "included files of one network in BrainScript, each counted at every inclusion",
    12 * 1024 * 1024,
    "bytes",
    "the evaluation stops with a finding (BS066)",
)
SETTINGS_BYTES = Limit(
    "a settings file or a run file", 1024 * 1024, "bytes", "commands that need it fail"
)
KEY_PARTS = Limit(
    "dots in one key or value of a settings or run file", 200, "dots", "the file is refused"
)
# Scripts written by hand are shorter.
SCRIPT_BYTES = Limit("a script that starts runs", 2**20, "bytes", "the rest is not read")
# Scripts that start many trainings do so in loops.
SCRIPT_COMMANDS = Limit(
    "commands or lines followed in one script, those of functions at each call",
    10_000,
    "commands",
    "runs that the script starts later are not found",
)
SCRIPT_DEPTH = Limit(
    "nesting of blocks, calls or values in a script",
    20,
    "levels",
    "runs that are started further inside are not found, and such values are unknown",
)
SCRIPT_CHARACTERS = Limit(
    "text that variables contribute to the commands of one script",
    2**20,
    "characters",
    "further variables are unknown",
)
# Networks of CNTK's examples take 130,000.
EVALUATION_STEPS = Limit(
    "evaluation of one network in BrainScript",
    2_000_000,
    "steps",
    "the evaluation stops with a finding; earlier findings are reported",
)
EDITED_NODES = Limit(
    "all networks that one text of MEL edits and writes",
    200_000,
    "nodes",
    "the results of further edits are unknown",
)
MODEL_CONFIGURATIONS = Limit(
    "configurations in a folder that are searched for the one that trains a model",
    300,
    "files",
    "the others are not searched",
)
MODEL_CHAIN = Limit(
    "a chain of models, each made from the one before by a configuration of the folder",
    8,
    "models",
    "the network of the next model is unknown",
)
# A server needs half a second for this size, once.
COUNTED_BYTES = Limit(
    "a data file whose rows and columns are counted, such as the initial values of a parameter",
    16 * 1024 * 1024,
    "bytes",
    "shapes that depend on it are unknown",
)
# Its weights are skipped: the time is that of reading the file.
STORED_BYTES = Limit(
    "a model file that a configuration or an edit names",
    256 * 1024 * 1024,
    "bytes",
    "its network is taken from the text that trains it, or is unknown",
)
GIT_FILE_BYTES = Limit(
    "a `.gitignore`, or another small file of git", 2**20, "bytes", "it is treated as absent"
)
GIT_PATTERNS = Limit(
    "patterns with wildcards in one `.gitignore`",
    2_000,
    "patterns",
    "the file is treated as absent",
)
GIT_INDEX_BYTES = Limit("git's index", 2**28, "bytes", "every file is treated as untracked")
GIT_OBJECT_BYTES = Limit(
    "a file or folder in a git revision", 2**26, "bytes", "`describe` and `diff` refuse it"
)

# An editor may well open a document of 100 MB.
MESSAGE_BYTES = Limit(
    "a message to the language server",
    256 * 1024 * 1024,
    "bytes",
    "the server returns an error and exits, as it cannot find the next message",
)
HEADER_BYTES = Limit(
    "the header of a message to the language server",
    1024 * 1024,
    "bytes",
    "the server returns an error and exits, as it cannot find the next message",
)
WAITING_BYTES = Limit(
    "messages queued in the language server",
    8 * 1024 * 1024,
    "bytes",
    "the server reads no more until it has answered some of them",
)
UNREAD_BYTES = Limit(
    "output of the language server that the editor has not yet read",
    32 * 1024 * 1024,
    "bytes",
    "the oldest log and progress lines are dropped, and requests wait until the editor reads",
)
FINDINGS_SHOWN = Limit(
    "findings shown in an editor for one document",
    1_000,
    "findings",
    "the most severe are shown, and a last one gives the number of the others",
)


#: Every limit, in the order of the documents.
LIMITS: tuple[Limit, ...] = (
    *(row for row in tuple(globals().values()) if isinstance(row, Limit)),
    *ENGINE_LIMITS,
)
