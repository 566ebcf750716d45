"""Every run of a folder, each checked in a process of its own that has checked nothing before.

`python -m tests.cntk.fresh_runs FOLDER` prints a line of JSON for each.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from netsharp_lsp.cntk.commands.check import RunJob, check_run
from netsharp_lsp.cntk.commands.runs import OverDisk, scripted_runs, supposed_run
from netsharp_lsp.cntk.library import own_library
from netsharp_lsp.cntk.rules import RULES
from netsharp_lsp.cntk.suffixes import SUFFIXES
from netsharp_lsp.project.roots import roots_around
from netsharp_lsp.workspace import NO_PREMISES


def jobs(folder: Path) -> list[RunJob]:
    """What is to be checked: each configuration, what scripts start, and each file for itself."""
    roots = roots_around([str(folder)])
    files = OverDisk({}, roots)
    found = scripted_runs(str(folder), lambda _: False, NO_PREMISES, files, roots, lambda *_: None)
    rest = []
    for path in sorted(folder.rglob("*")):
        language = SUFFIXES.get(path.suffix)
        if language == "cntk":
            found.append(supposed_run(str(path), NO_PREMISES, files))
        elif language is not None:
            rest.append(RunJob(None, {}, roots, alone=(str(path), language)))
    return [*(RunJob(one.run, {}, roots, one.given) for one in found), *rest]


def reported(job: RunJob) -> str:
    """All that a run says, as one line."""
    outcome = check_run(job)
    reported = {file: list(map(repr, found)) for file, found in outcome.diagnostics.items()}
    return json.dumps([reported, sorted(outcome.files)], sort_keys=True)


def main(folder: Path) -> None:
    RULES.load()
    own_library()
    for job in jobs(folder):
        child = os.fork()
        if child == 0:
            print(reported(job), flush=True)
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
