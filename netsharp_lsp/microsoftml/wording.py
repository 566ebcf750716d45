"""The engine's sentences about settings of a run, in terms of the arguments of the calls.

It knows sentences alone, not which error it is, nor why.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from netsharp_engine.data.errors import DataError
from netsharp_engine.train.failures import TrainingError

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMBER = r"([\d.e+-]*\d)"
#: Advice on settings, and the same on arguments, in the order in which they are looked for.
ADVICE = tuple(
    (re.compile(ours), theirs)
    for ours, theirs in (
        (
            r'missing = "drop" leaves such rows out\. Set missing = "mean", or leave columns out '
            r"\(exclude\)",
            "such rows are left out. Fill them in data, or leave columns out of the formula",
        ),
        (r'leave it out: exclude = \[".*"\]', "leave it out of the formula"),
        (r"exclude leaves (\w+) out", r"leave \1 out of the formula"),
        (r"fewer rows \(rows = N\)", "fewer rows"),
        (r"leave columns out \(exclude\)", "leave columns out of the formula"),
        (r'set missing = "mean", "zero", "indicator" or "drop"', "leave its row out of data"),
        (r'Remove it with exclude, or set missing = "zero"', "Leave it out of the formula"),
        (r"set the task to classification", "set method='binary' or method='multiClass'"),
        (r'task = "(?:multiclass|classification)"', "method='multiClass'"),
        (r'task = "(\w+)"', r"method='\1'"),
        (r'loss = "cross-entropy"', "loss_function=log_loss()"),
        (r'loss = "squared"', "loss_function=squared_loss()"),
        (r'normalizer = "\w+"', "normalize='Yes'"),
        (r"another normalizer", "normalize='Yes'"),
        (r' or dtype = "float32"', ""),
        (r"\bbatch_size\b", "mini_batch_size"),
        (rf"\blearning_rate = {_NUMBER}", r"optimizer=sgd_optimizer(learning_rate=\1)"),
        (rf"\binit_diameter = {_NUMBER}", r"init_wts_diameter=\1"),
        (r"\binit_diameter\b", "init_wts_diameter"),
        (rf"\bmax_norm = {_NUMBER}", r"max_norm=\1"),
        (r"\bmore epochs\b", "a larger num_iterations"),
    )
)


def in_words_of_the_call(sentence: str) -> str:
    """Return a sentence of the engine with arguments of the calls in place of settings of a run."""
    for ours, theirs in ADVICE:
        sentence = ours.sub(theirs, sentence)
    return sentence


@contextmanager
def refusals_of_the_call() -> Iterator[None]:
    """Let errors of the engine speak of arguments of the calls."""
    try:
        yield
    except (DataError, TrainingError) as error:
        error.args = (in_words_of_the_call(str(error)), *error.args[1:])
        raise
