"""A run that was looked at is let go of: what is kept beside it does not hold it."""

from __future__ import annotations

import gc
import weakref

from netsharp_lsp.cntk.checking.analysis import analysed
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.cntk.run.neighbours import alone
from netsharp_lsp.workspace import GivenFiles

TEXT = b"""\
command = Train:Edit:Test
modelPath = "m.dnn"
Train = {
    action = "train"
    BrainScriptNetworkBuilder = {
        x = Input {2} ; y = Input {2}
        z = LinearLayer {2} (x)
        ce = CrossEntropyWithSoftmax (y, z)
        featureNodes = (x) ; labelNodes = (y) ; criterionNodes = (ce) ; outputNodes = (z)
    }
    SGD = { maxEpochs = 1 }
}
Edit = { action = "edit" ; editPath = "e.mel" }
Test = { action = "test" ; modelPath = "n.dnn" }
"""
SCRIPT = b'm = LoadModel("m.dnn", format="cntk")\nSaveModel(m, "n.dnn")\n'


def test_a_run_that_was_checked_is_let_go() -> None:
    files = GivenFiles({"a.cntk": TEXT, "e.mel": SCRIPT})
    run = Experiment(alone("a.cntk"), files).among(files)
    analysed(run)
    assert run.edits
    known = weakref.ref(run)
    del run
    gc.collect()
    assert known() is None
