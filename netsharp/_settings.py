"""The settings of a training as types, made from the engine's table of keys.

`pytest tests/public --update` makes this module from the table.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

Path = str | os.PathLike[str]
#: A column by its name, or by its number from 1.
Column = str | int
#: What turns the `auto` of an output layer into a number of nodes.
Task = Literal["binary", "multiclass", "regression"]
#: Whose defaults apply.
Host = Literal["studio", "rx", "tlc"]
#: The languages of texts.
Language = Literal["netsharp", "cntk", "brainscript", "ndl", "mel"]


class TrainSettings(TypedDict, total=False):
    """Settings of a training; what is left out, or None, takes its default.

    They are the keys `[data]` and `[train]` of a run file, and arguments of `netsharp.train`.

    Since
    -----
    0.1
    """

    train: Path | Sequence[Path] | None
    """Training data: files or globs."""

    label: Column | Sequence[Column] | None
    """The label column, by name or number from 1, or a list of columns of numbers to predict."""

    labels: Path | Sequence[Path] | None
    """IDX label files, one per image file."""

    weight: Column | None
    """A column of sample weights."""

    header: bool | None
    """Whether the first row holds names; guessed if absent."""

    delimiter: str | None
    """One character, or comma, tab, semicolon, pipe, space."""

    decimal: str | None
    """Comma or point, before the fraction of a number."""

    encoding: str | None
    """How text is encoded: utf-8, utf-16, cp1252, latin-1, ...."""

    categorical: Sequence[Column] | None
    """Columns that hold categories."""

    columns: Sequence[Column] | None
    """The columns that are features, in this order; if absent all that play no other part."""

    exclude: Sequence[Column] | None
    """Columns that are not features, such as an id."""

    missing: Literal["error", "mean", "zero", "drop", "indicator"] | None
    """What a missing number becomes: refused, the mean, 0, its row left out of training and not
    answered (drop, also for labels), or the mean with a feature that marks it. Default:
    "error".
    """

    unknown_level: bool | None
    """Whether categorical columns get an indicator for unknown levels. Default: True."""

    rows: int | None
    """The most rows that are read, at least 1."""

    cache: Literal["auto", "always", "never"] | None
    """Whether the prepared table is kept in a file, mapped and found again at the next start: of
    files from 128 MiB on (auto), always or never. Default: "auto".
    """

    task: Literal["classification", "binary", "multiclass", "regression"] | None
    """What is learned. Default: "classification"."""

    host: Host | None
    """Whose defaults apply; ours if absent."""

    hidden_nodes: int | None
    """Nodes of an auto layer, at least 1. Default: 100."""

    optimizer: Literal["sgd", "adadelta", "adam"] | None
    """The rule of the update. Default: "adam" ("sgd" where momentum is set, "sgd" with host
    "studio", "sgd" with host "rx", "sgd" with host "tlc").
    """

    learning_rate: float | None
    """The step's factor, above 0. Default: 0.005 (0.1 with optimizer "sgd", 0.005 with it for a
    regression, 0.1 with host "studio", 0.001 with host "rx", 0.001 with host "tlc", 0.001
    with a host and optimizer "adam").
    """

    momentum: float | None
    """Share of the last step kept, at least 0 and at most 1. Default: 0."""

    nesterov: bool | None
    """Nesterov's momentum. Default: False."""

    weight_decay: float | None
    """Shrinks weights after a step, at least 0. Default: 0."""

    max_norm: float | None
    """Limit of an incoming weight vector's norm; 0 is none, at least 0. Default: 0."""

    clip_norm: float | None
    """Limit of the norm of the gradient of all weights together, a mean over the rows of a step; 0
    is none, at least 0. Default: 0.
    """

    clip_value: float | None
    """Limit of each number of the gradient; 0 is none, at least 0. Default: 0."""

    dropout: float | Mapping[str, float] | None
    """Share of the nodes that each step of training leaves out: a number for every hidden layer
    with weights of its own, or a table of shares by layer, inputs included.
    """

    epochs: int | None
    """Passes over the training rows, at least 1. Default: 100."""

    batch_size: int | None
    """Rows per step, at least 1. Default: 64 (1 with host "studio", 1 with host "rx", 1 with host
    "tlc").
    """

    seed: int | None
    """Start of all random choices, at least 0. Default: 0."""

    shuffle: bool | Literal["blocks"] | None
    """A new order in every epoch: of all rows, or of blocks and of the rows of some blocks at a
    time ("blocks"), which a prepared table gets by itself that is larger than half of the
    memory that is free. Default: True.
    """

    normalizer: Literal["minmax", "minmax-zero", "gaussian", "robust", "binning", "none"] | None
    """How features are scaled. Default: "robust" ("minmax" with host "studio", "minmax-zero" with
    host "rx", "minmax-zero" with host "tlc").
    """

    bins: int | None
    """Bins of the binning normaliser, at least 2 and at most 65,536. Default: 256."""

    loss: Literal["auto", "cross-entropy", "squared"] | None
    """What is minimised. Default: "auto"."""

    scale_label: bool | None
    """Whether numbers to predict by linear nodes are trained at mean 0 and deviation 1; what is
    predicted is always what the label means. Default: True (False with host "studio", False
    with host "rx", False with host "tlc").
    """

    init: Literal["uniform", "glorot", "he"] | None
    """Where weights start: within init_diameter, or as far from 0 as the edges into a node and out
    of one (glorot), or those into it (he), let its sums spread alike in all layers. Default:
    "glorot" ("uniform" where init_diameter is set, "uniform" with host "studio", "uniform"
    with host "rx", "uniform" with host "tlc").
    """

    init_diameter: float | None
    """With init uniform, weights start within half of it around 0, above 0. Default: 0.1."""

    validation: float | Path | None
    """A fraction, a column or a file of validation rows."""

    patience: int | None
    """Epochs without improvement before stopping, at least 0. Default: 0."""

    class_weights: Literal["balanced"] | Mapping[str, float] | None
    """"balanced", or a table of weights by class."""

    quantize: str | bool | None
    """Codes that values of hidden layers are while training, each looked up in a table that is
    rebuilt after every epoch: true for uint8, or uint, int, symmetric with 4 to 12 bits.
    """

    threads: int | Literal["auto"] | None
    """Threads that share the rows of a step (auto: as many as are measured to be fastest), at least
    1 and at most 1,024. Default: 1.
    """

    dtype: Literal["float32", "float64"] | None
    """The numbers' type. Default: "float32"."""

    device: str | None
    """What computes: auto, cpu, torch[:cuda|mps|xpu|cpu] or wgpu[:NAME]. Default: "cpu"."""

    precision: Literal["float32", "float64", "bf16"] | None
    """The type of numbers in which steps are computed: that of dtype if absent; bf16 multiplies in
    bfloat16, on torch, and keeps weights in float32.
    """

    rate_reduction_ratio: float | None
    """The rate's factor when it is reduced; 1 is never, above 0 and at most 1. Default: 1."""

    rate_reduction_frequency: int | None
    """Epochs between reductions, at least 1. Default: 100."""

    rate_reduction_error_ratio: float | None
    """Also reduce when the loss falls by less than this fraction; at 0, when it rises, at least 0
    and below 1. Default: 0.
    """

    schedule: Literal["constant", "step", "cosine", "plateau"] | None
    """How the learning rate falls from epoch to epoch: not at all, by a factor every
    schedule_epochs epochs, along half a cosine, or by a factor where the loss (of validation
    rows if there are any) does not improve. Default: "constant".
    """

    schedule_epochs: int | None
    """Step: epochs between two falls (30 if absent); cosine: epochs until schedule_least is reached
    (all of the run); plateau: epochs without a better loss before a fall (10), at least 1.
    """

    schedule_factor: float | None
    """The rate's factor at each fall of step and plateau, above 0 and below 1. Default: 0.1."""

    schedule_least: float | None
    """The rate below which no schedule falls, at least 0. Default: 0."""

    adadelta_decay: float | None
    """AdaDelta's decay, at least 0 and below 1. Default: 0.95."""

    adadelta_constant: float | None
    """AdaDelta's conditioning constant, above 0. Default: 1e-06."""

    adam_beta1: float | None
    """Adam's first decay, at least 0 and below 1. Default: 0.9."""

    adam_beta2: float | None
    """Adam's second decay, at least 0 and below 1. Default: 0.999."""

    adam_epsilon: float | None
    """Adam's constant, above 0. Default: 1e-08."""
