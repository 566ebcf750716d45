"""The arguments of the hosts' calls, with their names in R, Python and Studio, and here.

Sources: the reference of MicrosoftML (`rxNeuralNet`, `sgd`, `adaDeltaSgd`), of microsoftml
(`rx_neural_network`, `sgd_optimizer`, `adadelta_optimizer`), and the pages of Studio's modules. The
page `docs/importing.md`, faults of run files and flags, and the import of scripts read this table;
it must not know them.
"""

from __future__ import annotations

from typing import NamedTuple


class HostArgument(NamedTuple):
    """An argument: its names in R, Python and Studio, the key of a run file, what becomes of it.

    `key` is "" for an argument without a key; `default` is the host's where it is written out.
    """

    r: str
    python: str
    studio: str
    key: str
    default: str | int | float | bool | None
    becomes: str


ARGUMENTS = (
    HostArgument(
        "formula", "formula", "Selected columns", "label", None, "label, columns, exclude"
    ),
    HostArgument(
        "data", "data", "Dataset", "train", None, "the file that the script reads; else export it"
    ),
    HostArgument("type", "method", "module", "task", "binary", "task"),
    HostArgument(
        "netDefinition",
        "net_definition",
        "Custom definition script",
        "",
        None,
        "NAME.nn: the definition is a file",
    ),
    HostArgument(
        "numHiddenNodes", "num_hidden_nodes", "Number of hidden nodes", "hidden_nodes", 100, "key"
    ),
    HostArgument(
        "numIterations", "num_iterations", "Number of learning iterations", "epochs", 100, "key"
    ),
    HostArgument("optimizer", "optimizer", "Learning rate, momentum", "optimizer", "sgd", "keys"),
    HostArgument(
        "initWtsDiameter",
        "init_wts_diameter",
        "Initial learning weights diameter",
        "init_diameter",
        0.1,
        "key",
    ),
    HostArgument("maxNorm", "max_norm", "", "max_norm", 0, "key"),
    HostArgument("normalize", "normalize", "Type of normalizer", "normalizer", "auto", "key"),
    HostArgument("miniBatchSize", "mini_batch_size", "", "batch_size", 1, "key"),
    HostArgument("acceleration", "acceleration", "", "", None, "nothing: no result depends on it"),
    HostArgument(
        "rowSelection", "row_selection", "", "", None, "report: select rows before exporting"
    ),
    HostArgument(
        "mlTransforms",
        "ml_transforms",
        "",
        "columns",
        None,
        "concat: its columns; categorical: categories; others: report",
    ),
    HostArgument(
        "mlTransformVars",
        "ml_transform_vars",
        "",
        "",
        None,
        "nothing: columns are named where they are used",
    ),
    HostArgument("transforms", "transforms", "", "", None, "report: compute it before exporting"),
    HostArgument(
        "transformObjects", "transform_objects", "", "", None, "report: compute it before exporting"
    ),
    HostArgument(
        "transformFunc", "transform_function", "", "", None, "report: compute it before exporting"
    ),
    HostArgument(
        "transformVars", "transform_variables", "", "", None, "report: compute it before exporting"
    ),
    HostArgument(
        "transformPackages",
        "transform_packages",
        "",
        "",
        None,
        "report: compute it before exporting",
    ),
    HostArgument(
        "transformEnvir",
        "transform_environment",
        "",
        "",
        None,
        "report: compute it before exporting",
    ),
    HostArgument(
        "blocksPerRead",
        "blocks_per_read",
        "",
        "",
        None,
        "nothing: rows are read in blocks anyway",
    ),
    HostArgument(
        "reportProgress", "report_progress", "", "", None, "nothing: --quiet turns the output off"
    ),
    HostArgument("verbose", "verbose", "", "", None, "nothing: --quiet turns the output off"),
    HostArgument(
        "computeContext", "compute_context", "", "", None, "report: training runs on this machine"
    ),
    HostArgument("ensemble", "ensemble", "", "", None, "report: one model is trained"),
    HostArgument("", "loss_function", "", "loss", None, "key"),
    HostArgument("", "", "Shuffle examples", "shuffle", None, "key"),
    HostArgument("", "", "Random number seed", "seed", None, "key"),
    HostArgument("", "", "Allow unknown categorical levels", "unknown_level", None, "key"),
    HostArgument(
        "", "", "Hidden layer specification", "", None, "NAME.nn: with or without a definition"
    ),
    HostArgument("", "", "Create trainer mode", "", None, "report: one set of settings is trained"),
)
OPTIMIZERS = (
    HostArgument("learningRate", "learning_rate", "Learning rate", "learning_rate", 0.001, "key"),
    HostArgument("momentum", "momentum", "Momentum", "momentum", 0, "key"),
    HostArgument("nag", "nag", "", "nesterov", None, "key"),
    HostArgument("weightDecay", "weight_decay", "", "weight_decay", None, "key"),
    HostArgument("lRateRedRatio", "l_rate_red_ratio", "", "rate_reduction_ratio", None, "key"),
    HostArgument("lRateRedFreq", "l_rate_red_freq", "", "rate_reduction_frequency", None, "key"),
    HostArgument(
        "lRateRedErrorRatio",
        "l_rate_red_error_ratio",
        "",
        "rate_reduction_error_ratio",
        None,
        "key",
    ),
    HostArgument("decay", "decay", "", "adadelta_decay", None, "key"),
    HostArgument("conditioningConst", "cond", "", "adadelta_constant", None, "key"),
)
#: The functions that make an optimiser, today's and older ones, and what they are here.
OPTIMIZER_CALLS = {
    "sgd": "sgd",
    "maOptimizerSgd": "sgd",
    "sgd_optimizer": "sgd",
    "adaDeltaSgd": "adadelta",
    "maOptimizerAda": "adadelta",
    "adadelta_optimizer": "adadelta",
}
TASKS = {
    "binary": "binary",
    "multiclass": "multiclass",
    "multi": "multiclass",
    "regression": "regression",
}
#: What "auto" and the others of the hosts are here: `warn` only warns and normalises nothing.
NORMALIZERS = {"auto": "minmax-zero", "yes": "minmax-zero", "warn": "none", "no": "none"}
LOSSES = {"logloss": "cross-entropy", "squaredloss": "squared", "squarederror": "squared"}


def by_plain_name(rows: tuple[HostArgument, ...]) -> dict[str, HostArgument]:
    """Return rows by the names of their arguments without case and underscores."""
    return {plain_name(name): row for row in rows for name in (row.r, row.python) if name}


def plain_name(name: str) -> str:
    """Return a name without what hosts write in different ways: case, underscores, dots, dashes."""
    return "".join(one for one in name if one not in "_.- ").lower()


def known_here(name: str) -> tuple[str, str] | None:
    """Return the key that corresponds to an argument of the hosts, "" where none does, and why.

    None for a name that is not an argument of theirs.
    """
    row = _EVERY.get(plain_name(name))
    return None if row is None else (row.key, row.becomes.partition(": ")[2])


_EVERY = {
    plain_name(name): row
    for row in (*ARGUMENTS, *OPTIMIZERS)
    for name in (row.studio.partition(",")[0], row.r, row.python)
    if name
}
