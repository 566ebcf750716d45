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
    """The feature columns, in this order; if absent, all that have no other role."""

    exclude: Sequence[Column] | None
    """Columns that are not features, such as an id."""

    missing: Literal["error", "mean", "zero", "drop", "indicator"] | None
    """What to do with a missing number: report an error, substitute the mean or 0, drop its row
    (neither trained on nor answered; also for labels), or the mean and a feature that marks
    it. Default: "error".
    """

    unknown_level: bool | None
    """Whether categorical columns get an indicator for unknown levels. Default: True."""

    rows: int | None
    """The maximum number of rows to read, at least 1."""

    cache: Literal["auto", "always", "never"] | None
    """Whether the prepared table is kept in a file for the next run: if the data files have 128 MiB
    or more (auto), always or never. Default: "auto".
    """

    task: Literal["classification", "binary", "multiclass", "regression"] | None
    """The task. Default: "classification"."""

    host: Host | None
    """Whose defaults apply; ours if absent."""

    hidden_nodes: int | None
    """Nodes of a hidden layer of size auto, at least 1. Default: 100."""

    optimizer: Literal["sgd", "adadelta", "adam"] | None
    """The update rule. Default: "adam" ("sgd" where momentum is set, "sgd" with host "studio",
    "sgd" with host "rx", "sgd" with host "tlc").
    """

    learning_rate: float | None
    """The learning rate: the factor of a step, above 0. Default: 0.005 (0.1 with optimizer "sgd",
    0.005 with it for a regression, 0.1 with host "studio", 0.001 with host "rx", 0.001 with
    host "tlc", 0.001 with a host and optimizer "adam").
    """

    momentum: float | None
    """Momentum: the share of the last step that is kept, at least 0 and at most 1. Default: 0."""

    nesterov: bool | None
    """Nesterov's momentum. Default: False."""

    weight_decay: float | None
    """Weight decay: shrinks the weights after each step, at least 0. Default: 0."""

    max_norm: float | None
    """Limit of the norm of a node's incoming weights; 0 is none, at least 0. Default: 0."""

    clip_norm: float | None
    """Limit of the norm of the whole gradient, which is a mean over the rows of a step; 0 is none,
    at least 0. Default: 0.
    """

    clip_value: float | None
    """Limit of each component of the gradient; 0 is none, at least 0. Default: 0."""

    dropout: float | Mapping[str, float] | None
    """Share of the nodes that a training step drops: one number for all hidden layers that have
    weights of their own, or a table of shares by layer, inputs included.
    """

    epochs: int | None
    """Passes over the training rows, at least 1. Default: 100."""

    batch_size: int | None
    """Rows per step, at least 1. Default: 64 (1 with host "studio", 1 with host "rx", 1 with host
    "tlc").
    """

    seed: int | None
    """Seed of all random choices, at least 0. Default: 0."""

    shuffle: bool | Literal["blocks"] | None
    """A new order in every epoch: of all rows, or of blocks and of the rows within some blocks at a
    time ("blocks"; the default of a prepared table that is larger than half of the free
    memory). Default: True.
    """

    normalizer: Literal["minmax", "minmax-zero", "gaussian", "robust", "binning", "none"] | None
    """The scaling of features. Default: "robust" ("minmax" with host "studio", "minmax-zero" with
    host "rx", "minmax-zero" with host "tlc").
    """

    bins: int | None
    """Bins of the binning normaliser, at least 2 and at most 65,536. Default: 256."""

    loss: Literal["auto", "cross-entropy", "squared"] | None
    """The loss that is minimised. Default: "auto"."""

    scale_label: bool | None
    """Whether the labels of linear outputs are scaled to mean 0 and deviation 1 for training;
    predictions are always in the label's own units. Default: True (False with host "studio",
    False with host "rx", False with host "tlc").
    """

    init: Literal["uniform", "glorot", "he"] | None
    """Initial weights: uniform within init_diameter, or with a variance from the fan-in and fan-out
    (glorot) or the fan-in (he) of a node. Default: "glorot" ("uniform" where init_diameter
    is set, "uniform" with host "studio", "uniform" with host "rx", "uniform" with host
    "tlc").
    """

    init_diameter: float | None
    """With init uniform, initial weights are at most half of it from 0, above 0. Default: 0.1."""

    validation: float | Path | None
    """A fraction, a column or a file of validation rows."""

    patience: int | None
    """Epochs without improvement before stopping, at least 0. Default: 0."""

    class_weights: Literal["balanced"] | Mapping[str, float] | None
    """"balanced", or a table of weights by class."""

    quantize: str | bool | None
    """Quantise the values of hidden layers in training, by tables that are rebuilt after every
    epoch: true for uint8, or uint, int, symmetric with 4 to 12 bits.
    """

    threads: int | Literal["auto"] | None
    """Threads that share the rows of a step (auto: the number measured to be fastest), at least 1
    and at most 1,024. Default: 1.
    """

    dtype: Literal["float32", "float64"] | None
    """The type of weights and values. Default: "float32"."""

    device: str | None
    """The device: auto, cpu, torch[:cuda|mps|xpu|cpu] or wgpu[:NAME]. Default: "cpu"."""

    precision: Literal["float32", "float64", "bf16"] | None
    """The type that steps are computed in: dtype if absent; bf16 multiplies in bfloat16 and keeps
    weights in float32 (torch only).
    """

    rate_reduction_ratio: float | None
    """The factor of the learning rate at a reduction; 1 disables reductions, above 0 and at most 1.
    Default: 1.
    """

    rate_reduction_frequency: int | None
    """Epochs between reductions, at least 1. Default: 100."""

    rate_reduction_error_ratio: float | None
    """Also reduce when the loss falls by less than this fraction; at 0, when it rises, at least 0
    and below 1. Default: 0.
    """

    schedule: Literal["constant", "step", "cosine", "plateau"] | None
    """How the learning rate falls from epoch to epoch: not at all, by a factor every
    schedule_epochs epochs, along half a cosine, or by a factor when the loss (of validation
    rows if there are any) does not improve. Default: "constant".
    """

    schedule_epochs: int | None
    """Step: epochs between two reductions (default 30); cosine: epochs until schedule_least is
    reached (all of the run); plateau: epochs without a better loss before a reduction (10),
    at least 1.
    """

    schedule_factor: float | None
    """The factor of the learning rate at each reduction of step and plateau, above 0 and below 1.
    Default: 0.1.
    """

    schedule_least: float | None
    """The learning rate below which no schedule falls, at least 0. Default: 0."""

    adadelta_decay: float | None
    """AdaDelta's decay (rho), at least 0 and below 1. Default: 0.95."""

    adadelta_constant: float | None
    """AdaDelta's conditioning constant (epsilon), above 0. Default: 1e-06."""

    adam_beta1: float | None
    """Adam's decay of the gradient's mean, at least 0 and below 1. Default: 0.9."""

    adam_beta2: float | None
    """Adam's decay of the squared gradient's mean, at least 0 and below 1. Default: 0.999."""

    adam_epsilon: float | None
    """Adam's constant in the denominator, above 0. Default: 1e-08."""
