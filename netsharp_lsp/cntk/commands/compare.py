"""`netsharp diff` of runs of CNTK, or of files of networks."""

from __future__ import annotations

from netsharp_lsp.cntk.commands.subjects import SubjectError, read_experiment, spoil_networks
from netsharp_lsp.cntk.description.comparison import compare
from netsharp_lsp.questions import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.questions import Question

DONE, FAILED = 0, 2


def compare_experiments(before: str, after: str, asked: Question) -> Answer:
    """Compare two runs; there is no comparison where one has a faulty network or is not read."""
    answer = Answer(FAILED)
    try:
        subjects = [read_experiment(name, asked) for name in (before, after)]
        said = [subject.errors() for subject in subjects]
        answer.reports = [findings for findings, _ in said if findings]
        if any(spoil_networks(errors) for _, errors in said):
            return answer
        if not all(one.experiment.configuration.readable for one in subjects):
            return answer
        for subject in subjects:
            built = [one for one in subject.experiment.networks if one.network is not None]
            if subject.language != "cntk" and not built:
                raise SubjectError(f"{subject.name}: holds no network that could be compared.")
    except SubjectError as error:
        answer.complaints = (str(error),)
        return answer
    answer.comparison = compare(*(subject.experiment for subject in subjects))
    answer.code = DONE
    return answer
