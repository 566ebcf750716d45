"""The data of the files that settings name: read, or found as it was prepared before.

It decides where the data is stored; the preparation decides how it is changed.
"""

from __future__ import annotations

import os
from dataclasses import replace

from netsharp_engine.data import DataError, ProgressCallback, find_files, read_table
from netsharp_engine.data.errors import nearest
from netsharp_engine.data.reading.arrays import beside_labels
from netsharp_engine.data.reading.sources import open_source
from netsharp_engine.data.reading.standard_input import NAME as STANDARD_INPUT
from netsharp_engine.data.storage.stores import MEMORY, Store, StoreError
from netsharp_engine.excerpt import excerpt
from netsharp_engine.memory import free_memory, shown_bytes
from netsharp_engine.train.loading.prepared import WantedData, with_notes
from netsharp_engine.train.preparation import TrainingData, prepare
from netsharp_engine.train.settings import CHOSEN, TrainingSettings
from netsharp_engine.train.settings.keys import BLOCKS
from netsharp_engine.train.tasks import OutputForm

#: The bytes of all files from which on they are prepared once, by default.
LARGE = 128 * 1024 * 1024
#: A mapped table may take this share of the memory that is free.
SHARE = 0.5


def load_data(
    settings: TrainingSettings,
    *,
    progress: ProgressCallback | None = None,
    output: OutputForm | None = None,
    model: str | None = None,
    resumes: bool = False,
) -> TrainingData:
    """Read the files that the settings name and prepare them, or map what was prepared before.

    A ``validation`` that is text is a column if the training table has one of that name, else a
    file.  ``model`` is where the model will be written, beside which prepared tables are kept.
    A run that ``resumes`` keeps to the order that its settings say.
    Raises DataError or TrainingError.
    """
    if not settings.train:
        raise DataError(
            "No training data is named. Give it with --train, or with 'train' under [data] in the "
            "run file beside the specification (net.toml for net.nn)."
        )
    reading = _Reading(settings, progress, output)
    wanted = reading.wanted(model or settings.model)
    if wanted is None:
        return reading.data(MEMORY)
    data = found_or_made(wanted, reading)
    return data if resumes else within_memory(data)


def found_or_made(wanted: WantedData, reading: _Reading) -> TrainingData:
    """Return data as it was kept, else read, prepared and kept; in memory where it cannot be
    kept.
    """
    found = wanted.found()
    if found is not None:
        return found
    try:
        with wanted.store() as store:
            data = reading.data(store)
            kept = wanted.keep(store, data)
        found = wanted.found() if kept else None
        return data if found is None else found
    except StoreError as error:
        return with_notes(
            reading.data(MEMORY),
            f"The prepared table cannot be kept in {os.path.dirname(wanted.path)}: "
            f"{error.strerror or excerpt(error)}. It was read into memory.",
        )


def within_memory(data: TrainingData) -> TrainingData:
    """Return mapped data, whose blocks are shuffled where it is larger than the share of memory for
    it.

    Rows from all over a file larger than memory would be read one by one from the disk. A
    ``shuffle`` that was set explicitly is kept, and so is data that is not mapped.
    """
    free = free_memory()
    size = data.train.matrix.nbytes
    settings, mapped = data.settings, not data.train.matrix.flags.writeable
    by_default = settings.shuffle is True and settings.origins["shuffle"] not in CHOSEN
    if not (mapped and by_default) or free is None or size <= free * SHARE:
        return data
    return replace(
        data,
        settings=replace(settings, shuffle=BLOCKS),
        notes=(
            *data.notes,
            f"The prepared table takes {shown_bytes(size)}, and {shown_bytes(free)} of memory are "
            f'free: blocks of its rows are shuffled, as shuffle = "{BLOCKS}" says.',
        ),
    )


class _Reading:
    """The files of one training, found once."""

    def __init__(
        self,
        settings: TrainingSettings,
        progress: ProgressCallback | None,
        output: OutputForm | None,
    ) -> None:
        self._settings, self._progress, self._output = settings, progress, output
        self._files = find_files(settings.train)
        self._split = _split_column(settings, self._files[0])
        path = None if self._split is not None else settings.validation_path
        self._validation = [] if path is None else find_files(path)

    def wanted(self, model: str | None) -> WantedData | None:
        """Return the data that is to be kept; None where it is read into memory each time."""
        settings = self._settings
        named = (*settings.train, settings.validation_path)
        if settings.cache == "never" or STANDARD_INPUT in named:
            return None
        labels = settings.labels or [beside_labels(path) for path in self._files]
        others = [*self._validation, *(path for path in labels if path is not None)]
        try:
            size = sum(os.path.getsize(path) for path in (*self._files, *others))
            if settings.cache == "auto" and size < LARGE:
                return None
            return WantedData.of(settings, self._files, others, self._output, model)
        except OSError:
            return None  # Reading reports what is wrong with a file.

    def data(self, store: Store) -> TrainingData:
        """Read the files, with arrays in a store."""
        settings = self._settings
        options = settings.read_options(split=self._split)
        table = read_table(self._files, options, progress=self._progress, store=store)
        validation = None
        if self._validation:
            options = replace(settings.read_options(), labels=())
            validation = read_table(self._validation, options, progress=self._progress, store=store)
        return prepare(table, settings, validation, consume=True, output=self._output, store=store)


def _split_column(settings: TrainingSettings, first_file: str) -> str | None:
    """Return the validation column, or None where ``validation`` is not a text or is a file's
    name.
    """
    chosen = settings.validation
    if not isinstance(chosen, str):
        return None
    labels = settings.labels[0] if settings.labels else None
    names = open_source(first_file, settings.read_options(), labels=labels).names
    folded = [name.casefold() for name in names]
    if chosen in names or folded.count(chosen.casefold()) == 1:
        return chosen
    path = settings.validation_path
    if path is not None and (os.path.exists(path) or any(mark in path for mark in "*?[")):
        return None
    raise DataError(
        f'validation = "{excerpt(chosen)}" is neither a column of {first_file} nor a file.'
        f"{nearest(chosen, names)}"
    )
