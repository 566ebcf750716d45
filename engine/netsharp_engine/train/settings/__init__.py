"""Settings of a run: from a run file and flags to typed values that know where they came from.

Pure: it reads no file and no clock.  The keys, defaults and limits are the table in ``keys``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from netsharp_engine import stored as plain
from netsharp_engine.backends.naming import BF16
from netsharp_engine.data.errors import nearest
from netsharp_engine.data.reading.options import ColumnName, ReadOptions
from netsharp_engine.excerpt import excerpt
from netsharp_engine.host_arguments import known_here
from netsharp_engine.train.settings.keys import (
    ADAM_RATE,
    BELONGINGS,
    BY_NAME,
    CALL_CHOICES,
    HOST_ADAM_RATE,
    HOST_LIMITS,
    KEYS,
    LARGE_ADAM_RATE,
    OF_SGD,
    REGRESSION_RATE,
    SCHEDULE_EPOCHS,
    SECTIONS,
    SGD_RATE,
    Key,
)
from netsharp_engine.train.settings.values import BadValueError, convert

#: The origins of values that were set explicitly.
CHOSEN = ("file", "flag")
#: The origin of values from a script's call, which ranks below these.
CALL = "call"
PATH_KEYS = frozenset(("train", "test", "labels", "model", "log", "plot"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """The settings of a run, checked.

    ``origins`` maps each key to ``host``, ``default``, ``call``, ``file`` or ``flag``.
    ``directory`` is that of the run file; paths that came from the file already start with it,
    except a ``validation`` that may be a column or a file (see ``validation_path``).
    """

    train: tuple[str, ...]
    test: tuple[str, ...]
    label: ColumnName | tuple[ColumnName, ...] | None
    labels: tuple[str, ...]
    weight: ColumnName | None
    header: bool | None
    delimiter: str | None
    decimal: str | None
    encoding: str | None
    categorical: tuple[ColumnName, ...]
    columns: tuple[ColumnName, ...]
    exclude: tuple[ColumnName, ...]
    missing: str
    unknown_level: bool
    rows: int | None
    cache: str
    task: str
    host: str | None
    hidden_nodes: int
    optimizer: str
    learning_rate: float
    momentum: float
    nesterov: bool
    weight_decay: float
    max_norm: float
    clip_norm: float
    clip_value: float
    dropout: float | dict[str, float] | None
    epochs: int
    batch_size: int
    seed: int
    shuffle: bool | str
    normalizer: str
    bins: int
    loss: str
    scale_label: bool
    init: str
    init_diameter: float
    validation: float | str | None
    patience: int
    class_weights: str | dict[str, float] | None
    checkpoint: float
    quantize: str | None
    threads: int | str
    dtype: str
    device: str
    precision: str | None
    rate_reduction_ratio: float
    rate_reduction_frequency: int
    rate_reduction_error_ratio: float
    schedule: str
    schedule_epochs: int | None
    schedule_factor: float
    schedule_least: float
    adadelta_decay: float
    adadelta_constant: float
    adam_beta1: float
    adam_beta2: float
    adam_epsilon: float
    model: str | None
    log: str | None
    plot: str | None
    origins: Mapping[str, str]
    directory: str = ""

    @property
    def shards(self) -> int:
        """Return the number of threads; 1 while it is left to a measurement."""
        return self.threads if isinstance(self.threads, int) else 1

    @property
    def regression(self) -> bool:
        """Return whether numbers are predicted, not classes."""
        return self.task == "regression"

    @property
    def validation_path(self) -> str | None:
        """Return the file that ``validation`` names if it is not a column of the table."""
        if not isinstance(self.validation, str):
            return None
        from_file = self.origins["validation"] == "file"
        return os.path.join(self.directory, self.validation) if from_file else self.validation

    def read_options(self, *, split: str | None = None) -> ReadOptions:
        """Return the options of reading the table; ``split`` is the validation column if there is
        one.
        """
        label, *more = self.label if isinstance(self.label, tuple) else (self.label,)
        return ReadOptions(
            label=label,
            more_labels=tuple(name for name in more if name is not None),
            labels=self.labels,
            weight=self.weight,
            split=split,
            categorical=self.categorical,
            columns=self.columns,
            exclude=self.exclude,
            header=self.header,
            delimiter=self.delimiter,
            decimal=self.decimal,
            encoding=self.encoding,
            missing=self.missing,
            task="regression" if self.regression else "classification",
            rows=self.rows,
            dtype=self.dtype,
        )

    def listing(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield (section, key, value as text, origin) of every setting, in the table's order."""
        for key in KEYS:
            value = getattr(self, key.name)
            yield key.section, key.name, shown(value), self.origins[key.name]

    def notes(self) -> list[str]:
        """Return sentences about values that are accepted here but that the host itself would
        refuse or advise against.

        They are not errors: only a user who returns to that host needs them. One more is about a
        rate that fits another optimizer than the default.
        """
        found = [
            f"{name} = {getattr(self, name):g} is more than {limit:g}, the most that host "
            f'"{host}" takes.'
            for host, name, regression, limit in HOST_LIMITS
            if host == self.host
            and regression in (None, self.regression)
            and getattr(self, name) > limit
        ]
        by_default = self.origins["optimizer"] == "default" and self.optimizer == "adam"
        if by_default and self.learning_rate >= LARGE_ADAM_RATE:
            found.append(
                f'learning_rate = {self.learning_rate:g} is large for optimizer = "adam", the '
                'default. Set optimizer = "sgd" if steps along the gradient are meant.'
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """Return values and origins by key as plain JSON values, for the model file."""
        values = {key.name: getattr(self, key.name) for key in KEYS}
        return {
            "values": {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in values.items()
                if value not in (None, ())
            },
            "origins": dict(self.origins),
        }


def shown(value: object) -> str:
    """Return a value as the run file would write it; ``-`` for one that is not set."""
    if value is None or value == ():
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"[{', '.join(shown(each) for each in value)}]"
    if isinstance(value, dict):
        pairs = ", ".join(f'"{name}" = {number:g}' for name, number in value.items())
        return f"{{ {pairs} }}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def read_settings(
    run_file: Mapping[str, Any] | None = None,
    flags: Mapping[str, Any] | None = None,
    *,
    directory: str = "",
    file_name: str = "the run file",
    called: Mapping[str, str] | None = None,
    call: Mapping[str, Any] | None = None,
    call_name: str = "the call",
) -> TrainingSettings | list[str]:
    """Return the settings of a run file (its parsed TOML) under flags (by key; None is not given).

    Paths of the run file are taken from ``directory``. ``called`` are the names by which people
    know keys that are given in place of flags: Python's keywords, by key; without an entry a
    keyword is the key's own name. ``call`` is what the call of a script says, as a run file would:
    it gives way to both, and so do settings that belong to a choice that they make otherwise.
    Instead of settings it gives a list of sentences, one per fault, each with what to do.
    """
    errors: list[str] = []
    given: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for key, value in _file_values(run_file or {}, file_name, errors):
        _take(key, value, f"{file_name}, [{key.section}] {key.name}", given, errors)
        origins[key.name] = "file"
        _place_paths(key, given, directory)
    for name, value in (flags or {}).items():
        flag_key = BY_NAME.get(name.replace("-", "_").lstrip("_"))
        if flag_key is None:
            hint = _of_hosts(name) or f".{nearest(name, BY_NAME)}"
            errors.append(f"There is no setting '{excerpt(name)}'{hint}")
        elif value is not None:
            name = flag_key.name
            where = flag_key.flag if called is None else called.get(name, name)
            _take(flag_key, value, where, given, errors)
            origins[flag_key.name] = "flag"
    for key, value in _call_values(call or {}, call_name, given, errors):
        _take(key, value, f"{call_name}: {key.name}", given, errors)
        origins[key.name] = CALL
    _add_defaults(given, origins)
    errors += _conflicts(given, origins)
    if errors:
        return errors
    return TrainingSettings(**given, origins=origins, directory=directory)


def restore_settings(stored: Mapping[str, Any]) -> TrainingSettings | list[str]:
    """Return the settings whose ``to_json()`` was stored; a list of sentences for other values.

    Keys that a later version added take their defaults; unknown keys are ignored. ValueError where
    they are not tables.
    """
    errors: list[str] = []
    given: dict[str, Any] = {}
    origins = {str(name): str(origin) for name, origin in plain.table(stored, "origins").items()}
    for name, value in plain.table(stored, "values").items():
        key = BY_NAME.get(name)
        if key is not None:
            _take(key, value, f"setting {name}", given, errors)
    for key in KEYS:
        if key.before is not None and key.name not in origins:
            given[key.name] = key.before
    _add_defaults(given, origins)
    for key in KEYS:
        origins.setdefault(key.name, "default")
    return errors or TrainingSettings(**given, origins=origins)


def _call_values(
    call: Mapping[str, Any], call_name: str, given: Mapping[str, Any], errors: list[str]
) -> Sequence[tuple[Key, Any]]:
    """Return the values of a call that neither run file nor flags override or make pointless."""
    values = list(_file_values(call, call_name, errors))
    own = {**CALL_CHOICES, **{key.name: value for key, value in values}}
    pointless = {
        name
        for choice, names in BELONGINGS.items()
        if choice in given and given[choice] != own.get(choice)
        for name in names
    }
    return [one for one in values if one[0].name not in given and one[0].name not in pointless]


def _file_values(
    run_file: Mapping[str, Any], file_name: str, errors: list[str]
) -> Iterator[tuple[Key, Any]]:
    for section, table in run_file.items():
        if section not in SECTIONS:
            hint = nearest(section, SECTIONS)
            errors.append(f"{file_name}: there is no section [{excerpt(section)}].{hint}")
        elif not isinstance(table, Mapping):
            errors.append(f"{file_name}: '{section}' must be a section: [{section}].")
        else:
            for name, value in table.items():
                key = BY_NAME.get(name)
                if key is None:
                    known = [each.name for each in KEYS if each.section == section]
                    close = nearest(name, known) or nearest(name, BY_NAME)
                    hint = _of_hosts(name, section) or f".{close}"
                    errors.append(f"{file_name}, [{section}]: unknown key '{excerpt(name)}'{hint}")
                elif key.section != section:
                    errors.append(
                        f"{file_name}, [{section}]: '{name}' belongs to [{key.section}]. Move it."
                    )
                else:
                    yield key, value


def _of_hosts(name: str, section: str | None = None) -> str:
    """Return the name here of an argument of the hosts, as the rest of a sentence; "" for other
    names.
    """
    found = known_here(name)
    if found is None:
        return ""
    key, why = found
    if not key:
        return f": it is an argument of the hosts that has no counterpart here: {why}."
    place = BY_NAME[key].section
    where = f" in [{place}]" if section not in (None, place) else ""
    return f": this is '{key}'{where} here."


def _take(key: Key, value: Any, where: str, given: dict[str, Any], errors: list[str]) -> None:
    try:
        given[key.name] = convert(key, value)
    except BadValueError as fault:
        errors.append(f"{where}: {fault}")
        given.pop(key.name, None)


def _place_paths(key: Key, given: dict[str, Any], directory: str) -> None:
    value = given.get(key.name)
    if key.name not in PATH_KEYS or value is None or not directory:
        return
    if isinstance(value, tuple):
        given[key.name] = tuple(os.path.join(directory, path) for path in value)
    else:
        given[key.name] = os.path.join(directory, value)


def _add_defaults(given: dict[str, Any], origins: dict[str, str]) -> None:
    """Fill every key that was not given (or was given wrongly) with its default."""
    host = given.get("host")
    if isinstance(given.get("label"), tuple) and "task" not in given:
        given["task"] = "regression"  # Only numbers are predicted several at a time.
        origins.setdefault("task", "default")
    if given.get("precision") not in (None, BF16) and "dtype" not in given:
        given["dtype"] = given["precision"]
        origins.setdefault("dtype", "default")
    for key in KEYS:
        if key.name in given:
            continue
        value, origin = key.default, "default"
        if key.name == "learning_rate" and given.get("optimizer") == "adam":
            value = ADAM_RATE if host is None else HOST_ADAM_RATE
        elif key.name == "learning_rate" and host in (None, "studio"):
            value = REGRESSION_RATE if given.get("task") == "regression" else SGD_RATE
            origin = origin if host is None else "host"
        elif host is not None and host in key.hosts:
            value, origin = key.hosts[host], "host"
        elif key.name == "optimizer" and any(given.get(name) for name in OF_SGD):
            value = "sgd"
        elif key.name == "init" and origins.get("init_diameter") in (CALL, *CHOSEN):
            value = "uniform"
        elif key.name == "schedule_epochs" and given["schedule"] != "constant":
            value = SCHEDULE_EPOCHS.get(given["schedule"], given["epochs"])
        given[key.name] = () if key.kind == "paths" and value is None else value
        origins.setdefault(key.name, origin)
    missing = [field.name for field in fields(TrainingSettings) if field.name not in given]
    assert missing == ["origins", "directory"], missing


def _conflicts(given: Mapping[str, Any], origins: Mapping[str, str]) -> Sequence[str]:
    """Return sentences about settings that do not fit together."""
    faults = []
    optimizer = given["optimizer"]
    if given["momentum"] and optimizer != "sgd":
        faults.append(
            f'momentum belongs to optimizer = "sgd", not to "{optimizer}". Leave one of them out.'
        )
    if given["nesterov"] and optimizer != "sgd":
        faults.append(f'nesterov belongs to optimizer = "sgd", not to "{optimizer}".')
    if given["nesterov"] and optimizer == "sgd" and not given["momentum"]:
        faults.append("nesterov needs a momentum above 0, such as momentum = 0.9.")
    if optimizer == "adadelta":
        faults += [
            f'{name} has no effect with optimizer = "adadelta". Leave it out.'
            for name in ("weight_decay", "learning_rate")
            if origins[name] in CHOSEN and given[name]
        ]
    fault = precision_fault(given["dtype"], given["precision"])
    if fault is not None:
        faults.append(fault)
    faults += _absent_settings(given, origins)
    faults += _schedule_faults(given, origins)
    if given["init"] != "uniform" and _chosen("init_diameter", origins):
        faults.append(
            f'init_diameter has no effect with init = "{given["init"]}". Leave one of them out.'
        )
    if given["clip_norm"] and given["clip_value"]:
        faults.append("clip_norm and clip_value both cut the gradient. Leave one of them out.")
    if given["patience"] and given["validation"] is None:
        faults.append(
            "patience needs validation rows to watch. Set validation, for example to 0.1, "
            "or leave patience out."
        )
    if isinstance(given["label"], tuple) and given["task"] != "regression":
        faults.append(
            'Several label columns are numbers to predict. Set task = "regression", or name one.'
        )
    if given["class_weights"] and given["task"] == "regression":
        faults.append("class_weights need classes; the task is regression. Leave one of them out.")
    if given["loss"] == "cross-entropy" and given["task"] == "regression":
        faults.append('loss = "cross-entropy" needs classes; regression minimises "squared".')
    return faults


def precision_fault(dtype: str, precision: str | None) -> str | None:
    """Return why steps cannot be computed so of numbers of a type; None where they can."""
    if precision in (None, dtype) or (precision, dtype) == (BF16, "float32"):
        return None
    other = f"dtype = {'float32' if precision == BF16 else precision}"
    return f"precision = {precision} goes with {other}, and dtype = {dtype} is set. Change one."


def _chosen(name: str, origins: Mapping[str, str]) -> bool:
    """Return whether a key was set explicitly, by flag or in a run file."""
    return origins[name] in CHOSEN


def _absent_settings(given: Mapping[str, Any], origins: Mapping[str, str]) -> Iterator[str]:
    """Yield sentences about settings that the named host does not have."""
    host = given["host"]
    if not _chosen("host", origins):
        return
    for key in KEYS:
        value = given[key.name]
        if host in key.absent and _chosen(key.name, origins) and value and value != key.default:
            yield f'{key.name}: host "{host}" has no such setting. Leave it out, or the host.'


def _schedule_faults(given: Mapping[str, Any], origins: Mapping[str, str]) -> Iterator[str]:
    """Yield sentences about a schedule of the learning rate and its settings."""
    schedule = given["schedule"]
    unused = {
        "constant": ("schedule_epochs", "schedule_factor", "schedule_least"),
        "cosine": ("schedule_factor",),
    }.get(schedule, ())
    for name in unused:
        if _chosen(name, origins) and given[name]:
            yield f'{name} has no effect with schedule = "{schedule}". Leave it out.'
    if schedule == "constant":
        return
    if given["optimizer"] == "adadelta":
        yield 'schedule has no effect with optimizer = "adadelta", which has no learning rate.'
    if given["rate_reduction_ratio"] != 1:
        yield "schedule and rate_reduction_ratio both lower the rate. Leave one of them out."
    if given["schedule_least"] > given["learning_rate"]:
        yield "schedule_least is more than learning_rate, from which the rate falls. Lower it."
