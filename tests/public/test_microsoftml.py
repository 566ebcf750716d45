"""Scripts of Microsoft's package microsoftml that name ours instead."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import netsharp
from netsharp import microsoftml
from netsharp.microsoftml import (
    NeuralNetwork,
    adadelta_optimizer,
    concat,
    rx_neural_network,
    rx_predict,
    sgd_optimizer,
)
from netsharp_engine.host_arguments import ARGUMENTS
from netsharp_lsp.microsoftml.columns import chosen
from netsharp_lsp.microsoftml.refused import ARGUMENTS as REFUSED
from netsharp_lsp.microsoftml.refused import FUNCTIONS
from tests.cli.command_line import netsharp as command

#: Arguments of Microsoft's function in their order, and the defaults that its reference gives.
ORIGINAL = {
    "formula": inspect.Parameter.empty,
    "data": inspect.Parameter.empty,
    "method": "binary",
    "num_hidden_nodes": 100,
    "num_iterations": 100,
    "optimizer": None,
    "net_definition": None,
    "init_wts_diameter": 0.1,
    "max_norm": 0,
    "acceleration": None,
    "mini_batch_size": 1,
    "normalize": "Auto",
    "ml_transforms": None,
    "ml_transform_vars": None,
    "row_selection": None,
    "transforms": None,
    "transform_objects": None,
    "transform_function": None,
    "transform_variables": None,
    "transform_packages": None,
    "transform_environment": None,
    "blocks_per_read": None,
    "report_progress": None,
    "verbose": 1,
    "ensemble": None,
    "compute_context": None,
}
QUICK: dict[str, Any] = {"num_iterations": 12, "verbose": 0}
FASTER = sgd_optimizer(learning_rate=0.1, momentum=0.5)


def flowers() -> pd.DataFrame:
    """150 flowers: four numbers, their kind as a category in an order of its own, and a truth."""
    frame = load_iris(as_frame=True).frame
    frame.columns = ["sl", "sw", "pl", "pw", "kind"]
    kinds = pd.Categorical.from_codes(frame["kind"], ["setosa", "versicolor", "virginica"])
    frame["kind"] = kinds.reorder_categories(["virginica", "setosa", "versicolor"])
    frame["late"] = frame["kind"] == "virginica"
    return frame.sample(frac=1, random_state=3)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return flowers()


@pytest.fixture(scope="module")
def kinds(frame: pd.DataFrame) -> NeuralNetwork:
    return rx_neural_network(
        "kind ~ sl + sw + pl + pw", frame, method="multiClass", optimizer=FASTER, **QUICK
    )


def test_arguments_and_defaults_are_the_originals() -> None:
    ours = inspect.signature(rx_neural_network).parameters.values()
    theirs = [one for one in ours if one.kind is not one.KEYWORD_ONLY]
    assert {one.name: one.default for one in theirs} == ORIGINAL
    assert [one.name for one in theirs] == list(ORIGINAL)
    known = {row.python for row in ARGUMENTS if row.python}
    assert known == {*ORIGINAL, "loss_function"}


def test_scores_of_classes_stand_in_their_order(frame: pd.DataFrame, kinds: NeuralNetwork) -> None:
    scores = rx_predict(kinds, frame, extra_vars_to_write=["kind", "Score"])
    assert list(scores) == ["kind", "PredictedLabel", "Score.0", "Score.1", "Score.2"]
    assert scores.index.equals(frame.index)
    levels = list(frame["kind"].cat.categories)
    numbers = scores[["Score.0", "Score.1", "Score.2"]].to_numpy()
    assert [levels[place] for place in numbers.argmax(axis=1)] == list(scores["PredictedLabel"])
    assert (scores["PredictedLabel"] == frame["kind"].astype(str)).mean() > 0.8
    np.testing.assert_allclose(numbers.sum(axis=1), 1, atol=1e-6)


def test_scores_of_two_classes_are_log_odds(frame: pd.DataFrame) -> None:
    network = rx_neural_network(
        "late ~ f",
        frame,
        ml_transforms=[concat({"f": ["pl", "pw"]})],
        optimizer=adadelta_optimizer(),
        **QUICK,
    )
    assert network.features == ("pl", "pw")
    scores = rx_predict(network, frame, suffix=".nn", write_model_vars=True)
    names = ["PredictedLabel.nn", "Score.nn", "Probability.nn"]
    assert list(scores) == ["late", "pl", "pw", *names]
    assert scores["PredictedLabel.nn"].dtype == bool
    assert (scores["PredictedLabel.nn"] == (scores["Score.nn"] > 0)).all()
    odds = 1 / (1 + np.exp(-scores["Score.nn"]))
    np.testing.assert_allclose(odds, scores["Probability.nn"], atol=1e-6)


def test_a_number_is_scored_and_a_missing_value_is_not(frame: pd.DataFrame) -> None:
    holes = frame.copy()
    holes.iloc[:5, holes.columns.get_loc("pl")] = np.nan
    holes.iloc[5:8, holes.columns.get_loc("sl")] = np.nan
    network = rx_neural_network(
        "sl ~ sw + pl + kind", holes, method="regression", optimizer=FASTER, **QUICK
    )
    scores = rx_predict(network, holes)
    assert list(scores) == ["Score"]
    assert scores["Score"].isna().tolist() == holes["pl"].isna().tolist()
    error = (scores["Score"] - frame["sl"])[5:]
    assert float(np.sqrt((error**2).mean())) < float(frame["sl"].std())


def test_a_network_is_pickled_saved_and_summed_up(
    frame: pd.DataFrame, kinds: NeuralNetwork, tmp_path: Path
) -> None:
    again = pickle.loads(pickle.dumps(kinds))
    pd.testing.assert_frame_equal(rx_predict(again, frame), rx_predict(kinds, frame))
    netsharp.save(kinds, tmp_path / "kinds.safetensors")
    loaded = netsharp.load(tmp_path / "kinds.safetensors")
    assert loaded.classes == ("virginica", "setosa", "versicolor")
    # The weights that the reference prints for this network.
    assert sum(each.size for each in loaded.parameters.values()) == 803
    assert "803 parameters" in kinds.summary()
    assert "kind ~ sl + sw + pl + pw" in repr(kinds)


CALLS = {
    "two": ("late ~ sl + sw + pl + pw", ""),
    "more": ("kind ~ sl + sw + pl + pw", 'method="multiClass"'),
    "number": ("sl ~ sw + pl + pw", 'method="regression", normalize="No"'),
    "tuned": (
        "late ~ sl + sw + pl + pw",
        "num_hidden_nodes=7, mini_batch_size=16, init_wts_diameter=0.4, "
        "optimizer=sgd_optimizer(learning_rate=0.02, momentum=0.5, nag=True)",
    ),
    "defined": (
        "late ~ sl + sw + pl + pw",
        'net_definition="input D auto; hidden H [3] tanh from D all; '
        'output O [2] softmax from H all;", optimizer=adadelta_optimizer(0.9, cond=1e-5)',
    ),
}


@pytest.mark.filterwarnings("ignore:.*no better than:UserWarning")
@pytest.mark.parametrize("name", CALLS)
def test_a_script_that_is_imported_and_run_is_the_call(
    name: str, frame: pd.DataFrame, tmp_path: Path
) -> None:
    formula, arguments = CALLS[name]
    call = f'rx_neural_network("{formula}", rows, num_iterations=3, {arguments})'
    direct = eval(call.replace("rows", "rows, verbose=0"), vars(microsoftml), {"rows": frame})
    (tmp_path / "script.py").write_text(f"model = {call}\n")
    assert command("import", "script.py", cwd=tmp_path).code == 1
    frame[[direct.label, *direct.features]].to_csv(tmp_path / "rows.csv", index=False)
    if name == "more":
        # A file has no order of levels: its classes stand in that of their names.
        frame = frame.assign(kind=frame["kind"].astype(str))
        direct = eval(call.replace("rows", "rows, verbose=0"), vars(microsoftml), {"rows": frame})
    done = command(
        "run", "model.nn", "--train", "rows.csv", "--model", "m.safetensors", cwd=tmp_path
    )
    assert done.code == 0, done.err
    tensors = netsharp.load(tmp_path / "m.safetensors").parameters
    assert set(tensors) == set(direct.model_.parameters)
    for key, values in direct.model_.parameters.items():
        np.testing.assert_array_equal(values, tensors[key], err_msg=key)


def test_what_the_table_cannot_carry_is_refused() -> None:
    listed = {row.python for row in ARGUMENTS if row.python and row.becomes.startswith("report")}
    assert listed == set(REFUSED) - {"output_data"}


@pytest.mark.parametrize("name", [name for name in REFUSED if name in ORIGINAL])
def test_an_argument_that_is_not_here_is_refused_by_name(name: str, frame: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match=rf"does not take {name} here\. .+\."):
        rx_neural_network("late ~ pl", frame, **{name: "x"})


def test_another_function_of_the_original_says_so_when_it_is_called() -> None:
    from netsharp.microsoftml import rx_fast_trees

    for name in FUNCTIONS:
        with pytest.raises(ValueError, match=f"^{name} is not part of netsharp"):
            getattr(microsoftml, name)("late ~ pl", data=None)
    assert rx_fast_trees.__name__ == "rx_fast_trees"
    assert not hasattr(microsoftml, "rx_slow_trees")


Mistake = Callable[[pd.DataFrame, NeuralNetwork], object]
MISTAKES: list[tuple[Mistake, str]] = [
    (lambda rows, _: rx_neural_network("late ~ pl:pw", rows), "term 'pl:pw' is not a column"),
    (
        lambda rows, _: rx_neural_network("late ~ log(pl)", rows),
        r"term 'log\(pl\)' is not a column",
    ),
    (lambda rows, _: rx_neural_network("late ~ plx", rows), "Did you mean 'pl'"),
    (lambda rows, _: rx_neural_network("late ~ late + pl", rows), "both sides"),
    (lambda rows, _: rx_neural_network("late ~ . - plx", rows), "leaves out"),
    (
        lambda rows, _: rx_neural_network(
            "late ~ f + pl", rows, ml_transforms=[concat({"f": ["pl"]})]
        ),
        "'pl' twice",
    ),
    (lambda rows, _: rx_neural_network("log(late) ~ pl", rows), r"term 'log\(late\)'"),
    (lambda rows, _: rx_neural_network("late", rows), "is not a formula"),
    (lambda rows, _: rx_neural_network(7, rows), "must be a text"),  # type: ignore[arg-type]
    (lambda rows, _: rx_neural_network("kind ~ pl", rows), "3 classes; two classes are needed"),
    (
        lambda rows, _: rx_neural_network("late ~ pl", "rows.xdf"),
        r"polars, found str\. .*pandas\.read_csv\(data\)",
    ),
    (
        lambda rows, _: rx_neural_network("f ~ pl", rows, ml_transforms=concat({"f": ["pl"]})),  # type: ignore[arg-type]
        "must be a list of what concat",
    ),
    (lambda rows, _: rx_neural_network("late ~ f", rows, ml_transforms=["f"]), "found 'f'"),
    (
        lambda rows, _: rx_neural_network(
            "late ~ f", rows, ml_transforms=[concat({"e": ["f"], "f": ["e"]})]
        ),
        "no column 'f', which the vector 'e' of concat names",
    ),
    (lambda rows, _: rx_neural_network("late ~ pl", rows, net_definition=b"x"), "found bytes"),  # type: ignore[arg-type]
    (lambda rows, _: rx_neural_network("late ~ pl", rows, verbose=rows), "verbose must be True"),  # type: ignore[arg-type]
    (lambda _, __: concat({"f": np.array(3)}), "needs a list of names"),  # type: ignore[dict-item]
    (
        lambda rows, _: rx_neural_network(
            "late ~ pl", rows.assign(late=pd.Series(["a", "\ud800"] * 75, rows.index, dtype=object))
        ),
        "a character is not whole",
    ),
    (lambda rows, _: rx_neural_network("late ~ pl", rows, net_definition=3), "found int"),  # type: ignore[arg-type]
    (
        lambda rows, _: rx_neural_network("late ~ pl", pd.concat([rows, rows[["late"]]], axis=1)),
        "have 2 columns called 'late'.* Rename",
    ),
    (
        lambda rows, model: rx_predict(model, pd.concat([rows, rows[["sw"]]], axis=1)),
        "have 2 columns called 'sw'.* Rename",
    ),
    (
        lambda rows, model: rx_predict(
            model, pd.concat([rows, rows[["late"]]], axis=1), extra_vars_to_write=["late"]
        ),
        "have 2 columns called 'late'.* Rename",
    ),
    (lambda _, __: concat(None), "by its name"),  # type: ignore[arg-type]
    (lambda _, __: concat({"f": None}), "needs a list of names"),  # type: ignore[dict-item]
    (lambda _, __: concat({"f": 3}), "needs a list of names"),  # type: ignore[dict-item]
    (lambda _, __: sgd_optimizer(np.array([1, 2])), r"learning_rate of sgd_optimizer must be"),  # type: ignore[arg-type]
    (lambda _, __: adadelta_optimizer(cond="small"), "cond of adadelta_optimizer must be"),  # type: ignore[arg-type]
    (lambda rows, model: rx_predict(model, rows, suffix=3), "suffix must be a text"),  # type: ignore[arg-type]
    (
        lambda rows, model: rx_predict(model, rows, write_model_vars=rows),  # type: ignore[arg-type]
        "write_model_vars must be True or False",
    ),
    (lambda rows, model: rx_predict(model, rows, extra_vars_to_write=1), "names of columns"),  # type: ignore[arg-type]
    (lambda rows, model: rx_predict(model, rows, extra_vars_to_write=[1]), "names of columns"),  # type: ignore[list-item]
    (lambda rows, model: rx_predict(model, rows[:0]), "data has no rows"),
    (lambda rows, _: rx_neural_network("late ~ pl", rows, num_iterations=0), "num_iterations: 0"),
    (lambda rows, _: rx_neural_network("late ~ pl", rows, method="ranks"), "one of binary"),
    (lambda rows, _: rx_neural_network("late ~ pl", rows, normalize="some"), "one of auto"),
    (
        lambda rows, _: rx_neural_network("late ~ pl", rows, optimizer="sgd"),  # type: ignore[arg-type]
        r"must be sgd_optimizer\(\.\.\.\)",
    ),
    (lambda rows, _: rx_neural_network("kind ~ pl", rows, "regression"), "must be numbers"),
    (lambda _, __: concat(["pl", "pw"]), "by its name"),  # type: ignore[arg-type]
    (lambda rows, model: rx_predict(model, rows[["sl"]]), "no column 'sw', which the network"),
    (lambda rows, model: rx_predict(model, rows, extra_vars_to_write=["x"]), "is not a column"),
    (lambda rows, model: rx_predict(model, rows, "a.xdf"), "does not take output_data"),
    (lambda rows, _: rx_predict(rows, rows), "found DataFrame"),
    (
        lambda rows, model: rx_predict(
            model, rows.assign(PredictedLabel=1), extra_vars_to_write="PredictedLabel"
        ),
        "a column and a score",
    ),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_mistakes_are_reported_in_a_sentence(
    call: Mistake, message: str, frame: pd.DataFrame, kinds: NeuralNetwork
) -> None:
    with pytest.raises(ValueError, match=message):
        call(frame, kinds)


@pytest.mark.filterwarnings("ignore:.*no better than:UserWarning")
def test_features_that_are_not_normalised_are_warned_of(frame: pd.DataFrame) -> None:
    with pytest.warns(UserWarning, match="normalize='Yes'"):
        rx_neural_network("late ~ pl", frame, normalize="Warn", **QUICK)


@pytest.mark.parametrize(
    ("formula", "features"),
    [
        ("late ~ pl+pw", ("pl", "pw")),
        (" late~ . ", ("sl", "sw", "pl", "pw", "kind")),
        ("late ~ . - kind - sl", ("sw", "pl", "pw")),
        ("late ~ `pl` + `pl`", ("pl",)),
        ("late ~ both + sl", ("pl", "pw", "sw", "sl")),
    ],
)
def test_a_formula_is_its_columns(
    formula: str, features: tuple[str, ...], frame: pd.DataFrame
) -> None:
    vectors = [concat({"petal": ["pl", "pw"]}), concat({"both": ["petal", "sw"]})]
    assert chosen(formula, frame, vectors) == ("late", features)


def test_what_calls_are_given_can_be_compared(frame: pd.DataFrame, kinds: NeuralNetwork) -> None:
    assert sgd_optimizer(learning_rate=np.float32(0.5)) == sgd_optimizer(learning_rate=0.5)
    assert sgd_optimizer() != adadelta_optimizer()
    assert concat({"f": pd.Index(["a", "b"])}) == concat({"f": ("a", "b")})
    again = pickle.loads(pickle.dumps(kinds))
    assert kinds == kinds
    assert again != kinds
    assert len({kinds, again}) == 2


@pytest.mark.filterwarnings("ignore:.*no better than:UserWarning")
@pytest.mark.parametrize("size", ["auto", "[1]"])
def test_one_node_of_softmax_is_refused_with_advice(size: str, frame: pd.DataFrame) -> None:
    network = f"input D auto; hidden H [3] from D all; output O {size} {{}} from H all;"
    with pytest.raises(netsharp.TrainingError, match=r"Write sigmoid.* or give it the size \[2\]"):
        rx_neural_network("late ~ pl", frame, net_definition=network.format("softmax"), **QUICK)
    # What is said is what helps.
    rx_neural_network("late ~ pl", frame, net_definition=network.format("sigmoid"), **QUICK)
    two = network.replace(f"O {size}", "O [2]").format("softmax")
    rx_neural_network("late ~ pl", frame, net_definition=two, **QUICK)
