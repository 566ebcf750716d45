"""`netsharp diff` of runs of CNTK, or of files of networks."""

from __future__ import annotations

from netsharp_lsp.cli.cntk_subjects import read_experiment, spoil_networks
from netsharp_lsp.cli.subjects import SubjectError
from netsharp_lsp.cntk.description.comparison import compare

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from netsharp_lsp.description.comparison import Comparison
    from netsharp_lsp.project.folders import Find
    from netsharp_lsp.project.roots import Roots


def compare_experiments(args: argparse.Namespace, find: Find, roots: Roots) -> Comparison | None:
    """Compare two runs; None where one has a faulty network or cannot be read.

    All errors go to stderr.
    """
    subjects = [read_experiment(name, args, find, roots) for name in (args.before, args.after)]
    faulty = [spoil_networks(subject.show_errors()) for subject in subjects]
    if any(faulty) or not all(one.experiment.configuration.readable for one in subjects):
        return None
    for subject in subjects:
        built = [one for one in subject.experiment.networks if one.network is not None]
        if subject.language != "cntk" and not built:
            raise SubjectError(f"{subject.name}: holds no network that could be compared.")
    return compare(*(subject.experiment for subject in subjects))
