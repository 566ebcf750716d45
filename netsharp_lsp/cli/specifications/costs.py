"""The predicted cost of training a specification: its settings and graph, handed to the engine.

Imported for `--cost` alone, since it loads numpy; predicts nothing itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netsharp_engine.costs import Machine, calibrated, predict
from netsharp_engine.graph import GraphError
from netsharp_engine.train import TrainingError
from netsharp_lsp import __version__
from netsharp_lsp.cli.console.terminal import complain
from netsharp_lsp.cli.specifications.settings_beside import settings_beside
from netsharp_lsp.cli.specifications.subjects import SubjectError
from netsharp_lsp.context import FIELDS
from netsharp_lsp.language import family_of, language_for, trained_families

if TYPE_CHECKING:
    import argparse

    from netsharp_engine.costs import Calibration, Prediction
    from netsharp_engine.train import TrainingSettings
    from netsharp_lsp.cli.specifications.subjects import Subject
    from netsharp_lsp.project.roots import Roots

#: The flags of a prediction, which are settings of a run.
FLAGS = ("batch_size", "rows", "optimizer", "dtype")


def described_cost(subject: Subject, args: argparse.Namespace, roots: Roots) -> dict[str, Any]:
    """Return the "cost" of a description.  Raises SubjectError, a sentence, where there is none."""
    trained = family_of(language_for(subject.name).id)
    if trained.training is None:
        raise SubjectError(
            f"{subject.name}: --cost goes with {trained_families()}, and this is {trained.title}."
        )
    settings = settings_beside(subject, {name: getattr(args, name) for name in FLAGS}, roots)
    if settings.threads != 1:
        complain(f"{subject.name}: threads = {settings.threads}, and one thread is predicted.")
    known = {field: getattr(subject.context, field) for field in FIELDS}
    machine = Machine.here(__version__, settings.dtype)
    try:
        graph = trained.training.build_graph(subject.text.decode(), known)
        rates = calibrated(machine)
        found = predict(graph, settings, rates.rates, settings.rows)
    except (GraphError, TrainingError) as error:
        raise SubjectError(f"{subject.name}: {error}") from None
    return _as_json(found, settings, machine, rates)


def _as_json(
    found: Prediction, settings: TrainingSettings, machine: Machine, rates: Calibration
) -> dict[str, Any]:
    return {
        "batch_size": found.batch,
        "optimizer": settings.optimizer,
        "dtype": settings.dtype,
        "layers": [
            {
                "name": layer.name,
                "forward_seconds": layer.forward,
                "backward_seconds": layer.backward,
                "update_seconds": layer.update,
                "memory_bytes": layer.memory,
            }
            for layer in found.layers
        ],
        "around_seconds": found.around,
        "step_seconds": found.step,
        "rows": found.rows,
        "validation_rows": found.held,
        "steps": found.steps,
        "epoch_seconds": found.epoch,
        "memory_bytes": found.memory,
        "rows_bytes": found.table,
        "machine": {
            "cpu": machine.cpu,
            "cores": machine.cores,
            "numpy": machine.numpy,
            "measured_now": not rates.kept,
        },
    }
