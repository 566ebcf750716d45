"""Calls that train are found by each name that a script gives them, and no others."""

from __future__ import annotations

import pytest

from netsharp_lsp.cli.inputs.files import Input
from netsharp_lsp.cli.inputs.scripts import ReadScript, read_script
from tests.importing.read_calls import call_of, epochs_of

CALLED = {
    "a module by another name": (
        "a.py",
        'import microsoftml as m\nfit = m.rx_neural_network("y ~ .", num_iterations=5)',
    ),
    "a function by another name": (
        "a.py",
        "from microsoftml import rx_neural_network as nn, sgd_optimizer as s\n"
        'fit = nn("y ~ .", num_iterations=5, optimizer=s(0.25))',
    ),
    "of one of two packages": (
        "a.py",
        "try:\n    from microsoftml import rx_neural_network as nn\n"
        "except ImportError:\n    from netsharp.microsoftml import rx_neural_network as nn\n"
        'fit = nn("y ~ .", num_iterations=5)',
    ),
    "a variable": ("a.py", 'nn = m.rx_neural_network\nfit = nn("y ~ .", num_iterations=5)'),
    "a variable of a variable": (
        "a.py",
        'nn = rx_neural_network\nf = nn\nfit = f("y ~ .", num_iterations=5)',
    ),
    "with its type": ("a.py", 'fit: Any = rx_neural_network("y ~ .", num_iterations=5)'),
    "with its package": ("a.R", "fit <- MicrosoftML::rxNeuralNet(y ~ ., numIterations = 5)"),
    "from inside its package": (
        "a.R",
        "fit <- MicrosoftML:::rxNeuralNet(y ~ ., numIterations = 5)",
    ),
    "a variable of R": ("a.R", "nn <- rxNeuralNet\nfit <- nn(y ~ ., numIterations = 5)"),
    "a variable with its package": (
        "a.R",
        "nn <- MicrosoftML::rxNeuralNet\nfit <- nn(y ~ ., numIterations = 5)",
    ),
    "by do.call": ("a.R", 'fit <- do.call("rxNeuralNet", list(y ~ ., numIterations = 5))'),
    "in backquotes": ("a.R", "fit <- `rxNeuralNet`(y ~ ., numIterations = 5)"),
}


@pytest.mark.parametrize("form", CALLED)
def test_a_call_is_found_by_each_name(form: str) -> None:
    name, text = CALLED[form]
    assert epochs_of(name, text) == 5
    call = call_of(name, text)
    assert call.target == "fit"
    assert call.function in ("rxNeuralNet", "rx_neural_network")
    assert not call.left or [one.argument for one in call.left] == ["data"]
    if "sgd_optimizer as s" in text:
        assert {one.key: one.value for one in call.settings}["learning_rate"] == 0.25


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", 'def rx_neural_network(a): pass\nfit = rx_neural_network("y ~ .")'),
        ("a.py", "class NeuralNetwork: pass\nfit = NeuralNetwork(3)"),
        ("a.py", 'def f(rx_neural_network):\n    rx_neural_network("y ~ .")\n'),
        ("a.py", "from microsoftml import rx_neural_network as nn\nfit = other(3)"),
        ("a.R", "rxNeuralNet <- function(a) a\nfit <- rxNeuralNet(y ~ .)"),
        ("a.R", "fit <- models$neuralNet(3)"),
        ("a.R", "fit <- do.call(sum, list(3)) # rxNeuralNet"),
    ],
)
def test_other_functions_are_no_calls_that_train(name: str, text: str) -> None:
    script = read_script(Input(name, None), text.encode())
    assert isinstance(script, ReadScript)
    assert script.calls == []
