"""The table of run settings: every key of a run file, its kind, its default per host, its limits.

It holds data only; ``settings`` reads run files and flags with it. Hosts' defaults are those of
their documentation (Machine Learning Studio, rxNeuralNet, TLC). Where no host is named, or it has
none, the default is ours, decided by measurement: ``bench/defaults.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from netsharp_engine.backends.naming import CPU, PRECISIONS
from netsharp_engine.host_arguments import LOSSES as LOSS_WORDS
from netsharp_engine.host_arguments import NORMALIZERS as NORMALIZER_WORDS
from netsharp_engine.host_arguments import OPTIMIZER_CALLS
from netsharp_engine.host_arguments import TASKS as TASK_WORDS

HOSTS = ("studio", "rx", "tlc")
TASKS = ("classification", "binary", "multiclass", "regression")
OPTIMIZERS = ("sgd", "adadelta", "adam")
NORMALIZERS = ("minmax", "minmax-zero", "gaussian", "robust", "binning", "none")
INITS = ("uniform", "glorot", "he")
LOSSES = ("auto", "cross-entropy", "squared")
CACHES = ("auto", "always", "never")
MISSING = ("error", "mean", "zero", "drop", "indicator")
SCHEDULES = ("constant", "step", "cosine", "plateau")
#: The other way to shuffle than all rows.
BLOCKS = "blocks"
#: The value of ``threads`` that leaves their number to a measurement.
AUTO = "auto"
DTYPES = ("float32", "float64")

#: The rates of optimisers where none is set: of Adam, of Adam beside the other defaults of a host,
#: of steps along the gradient for classes and for numbers.
ADAM_RATE, HOST_ADAM_RATE, SGD_RATE, REGRESSION_RATE = 0.005, 0.001, 0.1, 0.005
#: Adam's rate from which on a user may have meant one for steps along the gradient.
LARGE_ADAM_RATE = 0.05
#: Settings that belong to steps along the gradient: a run that sets one has chosen the optimizer.
OF_SGD = ("momentum", "nesterov")

LOSS_ALIASES = {
    **LOSS_WORDS,
    "crossentropy": "cross-entropy",
    "log-loss": "cross-entropy",
}
LOSS_ALIASES |= {"squared-error": "squared", "mse": "squared"}


@dataclass(frozen=True, slots=True)
class Key:
    """One setting. ``kind`` is ``text``, ``choice``, ``integer``, ``number``, ``truth``,
    ``column``, ``columns``, ``labels`` (a column or several), ``paths``, ``shuffling``, ``split``,
    ``class weights``, ``layer shares``, ``operands``, ``device`` or ``threads``.

    ``hosts`` overrides ``default`` per host. ``least`` and ``most`` are limits, exclusive where
    ``open_least`` or ``open_most`` is set. ``absent`` are the hosts that have no such setting: a
    run that names one of these as host may not set it. ``before`` is the behaviour before there was
    such a key, in force for models that were stored then, where that is not the default.
    """

    section: str
    name: str
    kind: str
    doc: str
    default: object = None
    hosts: Mapping[str, object] = field(default_factory=dict)
    choices: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    least: float | None = None
    most: float | None = None
    open_least: bool = False
    open_most: bool = False
    absent: tuple[str, ...] = ()
    before: object = None

    @property
    def flag(self) -> str:
        """Return the flag of the command line."""
        return "--" + self.name.replace("_", "-")


def _same(value: object) -> dict[str, object]:
    return dict.fromkeys(HOSTS, value)


KEYS: tuple[Key, ...] = (
    Key("data", "train", "paths", "training data: files or globs"),
    Key("data", "test", "paths", "test data: files or globs"),
    Key(
        "data",
        "label",
        "labels",
        "the label column, by name or number from 1, or a list of columns of numbers to predict",
    ),
    Key("data", "labels", "paths", "IDX label files, one per image file"),
    Key("data", "weight", "column", "a column of sample weights"),
    Key("data", "header", "truth", "whether the first row holds names; guessed if absent"),
    Key("data", "delimiter", "text", "one character, or comma, tab, semicolon, pipe, space"),
    Key("data", "decimal", "text", "comma or point, before the fraction of a number"),
    Key("data", "encoding", "text", "how text is encoded: utf-8, utf-16, cp1252, latin-1, ..."),
    Key("data", "categorical", "columns", "columns that hold categories", ()),
    Key(
        "data",
        "columns",
        "columns",
        "the feature columns, in this order; if absent, all that have no other role",
        (),
    ),
    Key("data", "exclude", "columns", "columns that are not features, such as an id", ()),
    Key(
        "data",
        "missing",
        "choice",
        "what to do with a missing number: report an error, substitute the mean or 0, drop its "
        "row (neither trained on nor answered; also for labels), or the mean and a feature that "
        "marks it",
        "error",
        choices=MISSING,
    ),
    Key(
        "data",
        "unknown_level",
        "truth",
        "whether categorical columns get an indicator for unknown levels",
        True,
        hosts={"studio": True},
    ),
    Key("data", "rows", "integer", "the maximum number of rows to read", least=1),
    Key(
        "data",
        "cache",
        "choice",
        "whether the prepared table is kept in a file for the next run: if the data files have "
        "128 MiB or more (auto), always or never",
        "auto",
        choices=CACHES,
    ),
    Key(
        "train",
        "task",
        "choice",
        "the task",
        "classification",
        choices=TASKS,
        aliases=TASK_WORDS,
    ),
    Key("train", "host", "choice", "whose defaults apply; ours if absent", choices=HOSTS),
    Key(
        "train",
        "hidden_nodes",
        "integer",
        "nodes of a hidden layer of size auto",
        100,
        _same(100),
        least=1,
    ),
    Key(
        "train",
        "optimizer",
        "choice",
        "the update rule",
        "adam",
        _same("sgd"),
        OPTIMIZERS,
        {name.casefold(): rule for name, rule in OPTIMIZER_CALLS.items()},
    ),
    Key(
        "train",
        "learning_rate",
        "number",
        "the learning rate: the factor of a step",
        ADAM_RATE,
        # What each host documents for its plain rule.
        {"studio": 0.1, "rx": 0.001, "tlc": 0.001},
        least=0,
        open_least=True,
    ),
    Key(
        "train",
        "momentum",
        "number",
        "momentum: the share of the last step that is kept",
        0.0,
        _same(0.0),
        least=0,
        most=1,
    ),
    Key("train", "nesterov", "truth", "Nesterov's momentum", False, {"rx": False}),
    Key(
        "train",
        "weight_decay",
        "number",
        "weight decay: shrinks the weights after each step",
        0.0,
        {"rx": 0.0},
        least=0,
    ),
    Key(
        "train",
        "max_norm",
        "number",
        "limit of the norm of a node's incoming weights; 0 is none",
        0.0,
        {"rx": 0.0, "tlc": 0.0},
        least=0,
    ),
    Key(
        "train",
        "clip_norm",
        "number",
        "limit of the norm of the whole gradient, which is a mean over the rows of a step; 0 is "
        "none",
        0.0,
        least=0,
        absent=HOSTS,
    ),
    Key(
        "train",
        "clip_value",
        "number",
        "limit of each component of the gradient; 0 is none",
        0.0,
        least=0,
        absent=HOSTS,
    ),
    Key(
        "train",
        "dropout",
        "layer shares",
        "share of the nodes that a training step drops: one number for all hidden layers that have "
        "weights of their own, or a table of shares by layer, inputs included",
        absent=("studio", "rx"),
    ),
    Key("train", "epochs", "integer", "passes over the training rows", 100, _same(100), least=1),
    Key("train", "batch_size", "integer", "rows per step", 64, _same(1), least=1),
    Key("train", "seed", "integer", "seed of all random choices", 0, least=0, most=2**63 - 1),
    Key(
        "train",
        "shuffle",
        "shuffling",
        "a new order in every epoch: of all rows, or of blocks and of the rows within some blocks "
        'at a time ("blocks"; the default of a prepared table that is larger than half of the '
        "free memory)",
        True,
        _same(True),
    ),
    Key(
        "train",
        "normalizer",
        "choice",
        "the scaling of features",
        "robust",
        {"studio": "minmax", "rx": "minmax-zero", "tlc": "minmax-zero"},
        NORMALIZERS,
        {**NORMALIZER_WORDS, "min-max": "minmax"},
    ),
    Key("train", "bins", "integer", "bins of the binning normaliser", 256, least=2, most=65536),
    Key(
        "train",
        "loss",
        "choice",
        "the loss that is minimised",
        "auto",
        choices=LOSSES,
        aliases=LOSS_ALIASES,
    ),
    Key(
        "train",
        "scale_label",
        "truth",
        "whether the labels of linear outputs are scaled to mean 0 and deviation 1 for training; "
        "predictions are always in the label's own units",
        True,
        _same(False),
        absent=HOSTS,
        before=False,
    ),
    Key(
        "train",
        "init",
        "choice",
        "initial weights: uniform within init_diameter, or with a variance from the fan-in and "
        "fan-out (glorot) or the fan-in (he) of a node",
        "glorot",
        _same("uniform"),
        choices=INITS,
        absent=HOSTS,
        before="uniform",
    ),
    Key(
        "train",
        "init_diameter",
        "number",
        "with init uniform, initial weights are at most half of it from 0",
        # The hosts' own default.
        0.1,
        _same(0.1),
        least=0,
        open_least=True,
    ),
    Key("train", "validation", "split", "a fraction, a column or a file of validation rows"),
    Key("train", "patience", "integer", "epochs without improvement before stopping", 0, least=0),
    Key("train", "class_weights", "class weights", '"balanced", or a table of weights by class'),
    Key(
        "train",
        "checkpoint",
        "number",
        "seconds between two saves of the model during training; 0 saves only at the end or a stop",
        60.0,  # at most a minute of work is lost
        least=0,
    ),
    Key(
        "train",
        "quantize",
        "operands",
        "quantise the values of hidden layers in training, by tables that are rebuilt after every "
        "epoch: true for uint8, or uint, int, symmetric with 4 to 12 bits",
        absent=HOSTS,
    ),
    Key(
        "train",
        "threads",
        "threads",
        "threads that share the rows of a step (auto: the number measured to be fastest)",
        1,
        least=1,
        most=1024,
    ),
    Key("train", "dtype", "choice", "the type of weights and values", "float32", choices=DTYPES),
    Key(
        "train",
        "device",
        "device",
        "the device: auto, cpu, torch[:cuda|mps|xpu|cpu] or wgpu[:NAME]",
        CPU,
    ),
    Key(
        "train",
        "precision",
        "choice",
        "the type that steps are computed in: dtype if absent; bf16 multiplies in bfloat16 and "
        "keeps weights in float32 (torch only)",
        choices=PRECISIONS,
    ),
    Key(
        "train",
        "rate_reduction_ratio",
        "number",
        "the factor of the learning rate at a reduction; 1 disables reductions",
        1.0,
        {"rx": 1.0},
        least=0,
        most=1,
        open_least=True,
    ),
    Key(
        "train",
        "rate_reduction_frequency",
        "integer",
        "epochs between reductions",
        100,
        {"rx": 100},
        least=1,
    ),
    Key(
        "train",
        "rate_reduction_error_ratio",
        "number",
        "also reduce when the loss falls by less than this fraction; at 0, when it rises",
        0.0,
        {"rx": 0.0},
        least=0,
        most=1,
        open_most=True,
    ),
    Key(
        "train",
        "schedule",
        "choice",
        "how the learning rate falls from epoch to epoch: not at all, by a factor every "
        "schedule_epochs epochs, along half a cosine, or by a factor when the loss (of "
        "validation rows if there are any) does not improve",
        "constant",
        choices=SCHEDULES,
        absent=HOSTS,
    ),
    Key(
        "train",
        "schedule_epochs",
        "integer",
        "step: epochs between two reductions (default 30); cosine: epochs until schedule_least is "
        "reached (all of the run); plateau: epochs without a better loss before a reduction (10)",
        least=1,
        absent=HOSTS,
    ),
    Key(
        "train",
        "schedule_factor",
        "number",
        "the factor of the learning rate at each reduction of step and plateau",
        0.1,  # PyTorch's StepLR and ReduceLROnPlateau have the same
        least=0,
        most=1,
        open_least=True,
        open_most=True,
        absent=HOSTS,
    ),
    Key(
        "train",
        "schedule_least",
        "number",
        "the learning rate below which no schedule falls",
        0.0,
        least=0,
        absent=HOSTS,
    ),
    Key(
        "train",
        "adadelta_decay",
        "number",
        "AdaDelta's decay (rho)",
        # Zeiler (2012), section 4.1; so is the constant below.
        0.95,
        {"rx": 0.95},
        least=0,
        most=1,
        open_most=True,
    ),
    Key(
        "train",
        "adadelta_constant",
        "number",
        "AdaDelta's conditioning constant (epsilon)",
        # As above.
        1e-6,
        {"rx": 1e-6},
        least=0,
        open_least=True,
    ),
    Key(
        "train",
        "adam_beta1",
        "number",
        "Adam's decay of the gradient's mean",
        0.9,  # Kingma and Ba (2015), algorithm 1
        least=0,
        most=1,
        open_most=True,
    ),
    Key(
        "train",
        "adam_beta2",
        "number",
        "Adam's decay of the squared gradient's mean",
        0.999,  # Kingma and Ba (2015), algorithm 1
        least=0,
        most=1,
        open_most=True,
    ),
    Key(
        "train",
        "adam_epsilon",
        "number",
        "Adam's constant in the denominator",
        1e-8,  # Kingma and Ba (2015), algorithm 1
        least=0,
        open_least=True,
    ),
    Key("output", "model", "text", "the file of the model"),
    Key("output", "log", "text", "the file of the run log"),
    Key("output", "plot", "text", "the file of the picture of the loss"),
)

BY_NAME: dict[str, Key] = {key.name: key for key in KEYS}
SECTIONS = ("data", "train", "output")
#: Epochs of a schedule where none are set; those of the run where there is no row.
SCHEDULE_EPOCHS = {"step": 30, "plateau": 10}

#: Settings that belong to a choice: they are not taken from a call that makes another choice.
BELONGINGS: Mapping[str, tuple[str, ...]] = {
    "optimizer": (
        *("learning_rate", "momentum", "nesterov", "weight_decay"),
        *("rate_reduction_ratio", "rate_reduction_frequency", "rate_reduction_error_ratio"),
        *("adadelta_decay", "adadelta_constant"),
    ),
    "schedule": (
        *("rate_reduction_ratio", "rate_reduction_frequency", "rate_reduction_error_ratio"),
    ),
    "init": ("init_diameter",),
    "task": ("loss",),
}
#: The defaults of calls.
CALL_CHOICES = {"schedule": "constant", "init": "uniform"}

#: (host, key, regression or not or either) -> the host's own upper limit, reported as a note.
HOST_LIMITS: tuple[tuple[str, str, bool | None, float], ...] = (
    ("studio", "learning_rate", False, 1.0),
    ("studio", "learning_rate", True, 0.01),
    ("rx", "batch_size", None, 256),
)
