"""The limits of what is read, evaluated or kept before it is refused with a sentence.

Each row is shown in `docs/limits.md` and named in the sentence that refuses; knows no language.
"""

from __future__ import annotations

from netsharp_engine.limits import LIMITS as ENGINE_LIMITS
from netsharp_engine.limits import Limit

SPECIFICATION_BYTES = Limit(
    "one file of Net#, or one that holds some", 64 * 1024 * 1024, "bytes", "it is not read"
)
CONFIGURATION_BYTES = Limit(
    "one text in a language of CNTK",
    6 * 1024 * 1024,
    "bytes",
    "`check`, `describe`, `config` and `migrate` refuse it; `fmt` takes it",
)
# A specification with a million weights has two million, 200,000 edits of a model as many.
TEXT_WORDS = Limit(
    "one text of Net#, or a specification within another file: its words, numbers, marks and line "
    "ends",
    3_000_000,
    "words",
    "it is not read",
)
# A mark that belongs to nothing takes up to 1.3 kB of a check, a line of a network 5 kB.
TEXT_NAMES = Limit(
    "of these all but numbers, signs, commas and line ends",
    1_100_000,
    "words and marks that are not numbers",
    "it is not read",
)
# A word of a network that is formatted or checked takes up to 900 bytes.
CNTK_WORDS = Limit(
    "one text in a language of CNTK, or together the files that a configuration or a network "
    "includes, each as often as it is included, or that a network in NDL or the macros of an edit "
    "consist of, counted in the same way",
    1_100_000,
    "words",
    "it is not read",
)
OPEN_BRACKETS = Limit(
    "brackets that are open at once in such a text", 10_000, "brackets", "it is not read"
)
# A check takes some times the memory of a formatting.
EXPLAINED_BYTES = Limit(
    "one text that `fmt` leaves as it is in places and checks, to say whether `check` reports why",
    2**20,
    "bytes",
    "`fmt` names the places alone",
)
CONFIGURATION_FILES = Limit(
    "the files of one configuration together, each as often as it is included",
    24 * 1024 * 1024,
    "bytes",
    "what comes after them is not read, which is an error (CK018)",
)
CONDITION_EVALUATIONS = Limit(
    "counting the edges of filtered bundles in one network of Net#",
    20_000_000,
    "evaluations",
    "`describe` and `diff` leave the numbers open and say so; `run` refuses it",
)
MODELS_COMPARED = Limit(
    "the models of epochs that one command `cv` of CNTK evaluates",
    10_000,
    "models",
    "the command is refused",
)
FILTERED_EDGES = Limit(
    "the edges of one filtered bundle that is trained",
    10_000_000,
    "edges",
    "`run` refuses the network",
)
# The deepest networks that anyone trained had a thousand or two.
LAYERS = Limit(
    "the layers of one network, when it is trained or applied",
    10_000,
    "layers",
    "`run`, `predict` and `evaluate` refuse the network; `check` and `describe` take it",
)
# Places of values are compared with one another, at each keystroke.
DEVICE_LAYERS = Limit(
    "the layers of one network that a device is compared with",
    500,
    "layers",
    "`check` does not say whether the network fits a device (NS140)",
)
# Networks in which every layer reads all earlier ones have some thousands.
BUNDLES = Limit(
    "the bundles of one network, when it is trained or applied",
    50_000,
    "bundles",
    "`run`, `predict` and `evaluate` refuse the network; `check` and `describe` take it",
)
# Configurations of CNTK's examples include one or two files.
INCLUDES = Limit(
    "includes of one network in BrainScript, each file as often as it is included",
    500,
    "files",
    "the evaluation stops with a finding (BS066)",
)
INCLUDED_BYTES = Limit(
    "what one network in BrainScript includes, each file as often as it is included",
    12 * 1024 * 1024,
    "bytes",
    "the evaluation stops with a finding (BS066)",
)
SETTINGS_BYTES = Limit(
    "one file of settings, or one run file", 1024 * 1024, "bytes", "no command that needs it runs"
)
KEY_PARTS = Limit(
    "one key or value in settings or a run file", 200, "points", "the file is refused"
)
# Longer scripts are not written by hand.
SCRIPT_BYTES = Limit("one script that starts runs", 2**20, "bytes", "the rest is not read")
# Scripts that start many trainings write them into loops.
SCRIPT_COMMANDS = Limit(
    "commands or lines of one script that are followed, those of its functions at each call",
    10_000,
    "commands",
    "what the script starts after them counts as not started",
)
SCRIPT_DEPTH = Limit(
    "blocks within blocks of a script, calls within calls, or values within values",
    20,
    "levels",
    "what is started further inside counts as not started, and such a value as unknown",
)
SCRIPT_CHARACTERS = Limit(
    "what the variables of one script put into its commands",
    2**20,
    "characters",
    "variables count as unknown from there on",
)
# Networks of CNTK's examples take 130,000.
EVALUATION_STEPS = Limit(
    "evaluating one network in BrainScript",
    2_000_000,
    "steps",
    "the evaluation stops with a finding; what was found until then is reported",
)
EDITED_NODES = Limit(
    "networks that one text of MEL has edited and written, all together",
    200_000,
    "nodes",
    "what is edited after that stays unknown",
)
MODEL_CONFIGURATIONS = Limit(
    "configurations in a folder that are asked which of them trains a model that another reads",
    300,
    "files",
    "those that come after them are not asked",
)
MODEL_CHAIN = Limit(
    "models that rest one on another, each trained by another configuration of a folder",
    8,
    "models",
    "what the next one holds is not known",
)
# A server waits half a second for so much, once.
COUNTED_BYTES = Limit(
    "one file of data whose rows and columns are counted, such as a matrix that a parameter of a "
    "network starts from",
    16 * 1024 * 1024,
    "bytes",
    "what it says about shapes stays unknown",
)
# The numbers in it are not looked at: what it takes is its reading.
STORED_BYTES = Limit(
    "one model file that a configuration or an edit names and whose network is looked at",
    256 * 1024 * 1024,
    "bytes",
    "its network is that of the text which trains it, or stays unknown",
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
    "the most severe are shown, and one says how many are left out",
)


#: Every limit, in the order of the documents.
LIMITS: tuple[Limit, ...] = (
    *(row for row in tuple(globals().values()) if isinstance(row, Limit)),
    *ENGINE_LIMITS,
)
