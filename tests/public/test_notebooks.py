"""A notebook is run with a real kernel: pictures, tables, the magic, its bar, and an interrupt."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import netsharp

SPEC = "input D auto;\nhidden H [4] tanh from D all;\noutput O auto softmax from H all;\n"
X = np.random.default_rng(1).normal(size=(40, 2))
CELLS = [
    "%load_ext netsharp\n"
    "import numpy as np\n"
    "X = np.random.default_rng(1).normal(size=(40, 2))\n"
    "y = X[:, 0] > 0",
    f"%%netsharp drawn\n{SPEC}",
    f"%%netsharp model x=X y=y epochs=4 optimizer=adam learning_rate=0.1\n{SPEC}",
    "import signal\n"
    "def stop(event):\n"
    "    if event['epoch'] == 2:\n"
    "        signal.raise_signal(signal.SIGINT)\n"
    "netsharp = __import__('netsharp')\n"
    "cut = netsharp.train(drawn, X, y, epochs=50, callbacks=stop)\n"
    "len(cut.history), model.predict(X[:1]).predicted.dtype.name",
    f"%%netsharp short x=X y=y epochs=1\n{SPEC}",
]


@pytest.mark.costly
def test_a_notebook_checks_draws_trains_and_is_interrupted() -> None:
    pytest.importorskip("ipykernel", reason="ipykernel is not installed: group 'test'")
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed: group 'test'")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: group 'test'")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    outputs: list[list[Any]] = [cell["outputs"] for cell in book["cells"]]
    (drawn,) = outputs[1]
    assert "Nothing found" in drawn["data"]["text/html"]
    assert drawn["data"]["image/svg+xml"].startswith("<svg")
    shown, bar, model = (each["data"]["text/html"] for each in outputs[2])
    assert "<svg" in shown
    assert '<progress value="4" max="4">' in bar
    assert "epoch 4: loss" in bar
    assert "H/D/weights" in model
    assert "Loss by epoch" in model
    assert "true \\ predicted" in model
    assert "(2, 'bool')" in str(outputs[3])
    assert "training was interrupted" in str(outputs[3])
    reported = "".join(each["text"] for each in outputs[4] if each["output_type"] == "stream")
    assert "no better than always answering the most frequent class" in reported


def test_findings_are_shown_in_place_of_a_picture_that_cannot_be() -> None:
    shown = netsharp.Specification("input <b> [0];\noutput O auto softmax from <b> all;\n")
    assert shown._repr_svg_() is None
    page = shown._repr_html_()
    assert "line 1, column" in page
    assert "<b>" not in page
    assert "<script" not in page
    fine = netsharp.Specification(SPEC)
    assert fine == SPEC
    assert netsharp.train(fine, X, X[:, 0] > 0, epochs=1).specification == SPEC


def test_names_of_others_are_escaped_in_a_model() -> None:
    labels = np.where(X[:, 0] > 0, "<b>", "a&b")
    page = netsharp.train(SPEC, X, labels, epochs=1)._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


@pytest.mark.parametrize("line", ["1x", "model --epochs", "model 2=3"])
def test_a_line_that_cannot_be_is_a_sentence(line: str) -> None:
    from netsharp._notebook import run_cell

    with pytest.raises(ValueError, match=r"is not a setting. Usage: %%netsharp"):
        run_cell(SimpleNamespace(user_ns={}), line, SPEC)
