"""What R's package asks of Python, with the bytes that it sends, on a machine without R."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pandas as pd
import pytest

from netsharp.microsoftml import rx_neural_network, rx_predict
from netsharp_engine.host_arguments import ARGUMENTS, OPTIMIZERS
from netsharp_lsp.microsoftml.crossing import R_NAMES, in_words_of_r, learned, scored
from netsharp_lsp.microsoftml.refused import FUNCTIONS

Column = dict[str, Any]
LEVELS = ["wood", "field", "shore"]
QUICK = {"numIterations": 4.0, "miniBatchSize": 5.0, "verbose": 0}
RULE = {"name": "sgd", "learningRate": 0.1, "momentum": 0.5, "nag": True}


def numbers(name: str, values: list[float], kind: str = "numbers") -> Column:
    packed = bytearray(struct.pack(f"<{len(values)}d", *values))
    return {"name": name, "kind": kind, "values": packed, "levels": []}


def codes(name: str, kind: str, values: list[int], levels: list[str]) -> Column:
    packed = bytearray(struct.pack(f"<{len(values)}i", *values))
    return {"name": name, "kind": kind, "values": packed, "levels": levels}


SIZES = [float(row % 7) for row in range(30)]
PLACES = [row % 3 for row in range(30)]
TRUTHS = [1.0, 0.0, 0.0] * 10
TEXTS = [row % 2 for row in range(30)]
COLUMNS = {
    "size": numbers("size", [float("nan"), *SIZES[1:]]),
    "place": codes("place", "factor", [*PLACES[:-1], -1], LEVELS),
    "wet": numbers("wet", [*TRUTHS[:-1], float("nan")], "truths"),
    "shape": codes("shape", "texts", TEXTS, ["round", "flat"]),
}
NAMES = [*COLUMNS, "more"]


def frame() -> pd.DataFrame:
    """The same columns as pandas has them."""
    places = pd.Categorical.from_codes([*PLACES[:-1], -1], LEVELS)
    truths = [one == 1 for one in TRUTHS[:-1]]
    return pd.DataFrame(
        {
            "size": [np.nan, *SIZES[1:]],
            "place": places,
            "wet": pd.Series([*truths, None], dtype=object),
            "shape": [["round", "flat"][code] for code in TEXTS],
            "more": 0,
        }
    )


def learn(formula: str, kind: str, **more: Any) -> dict[str, Any]:
    columns = list(COLUMNS.values())
    return learned(formula, columns, NAMES, {"type": kind, **QUICK, **more}, RULE, {})


def values_of(column: Column) -> list[Any]:
    """The values of a column that comes back, None where there is none."""
    if column["kind"] == "texts":
        found = struct.unpack(f"<{len(column['values']) // 4}i", column["values"])
        return [None if code < 0 else column["levels"][code] for code in found]
    plain = struct.unpack(f"<{len(column['values']) // 8}d", column["values"])
    present = [None if one != one else one for one in plain]
    if column["kind"] == "truths":
        return [None if one is None else one == 1 for one in present]
    return present


@pytest.mark.filterwarnings("ignore:.*no better than:UserWarning")
@pytest.mark.parametrize(
    ("formula", "kind"),
    [
        ("`wet` ~ `size` + `shape`", "binary"),
        ("`shape` ~ `size` + `place`", "binary"),
        ("`place` ~ `size` + `wet` + `shape`", "multiClass"),
        ("`size` ~ `place` + `wet`", "regression"),
    ],
)
def test_scores_are_those_of_a_frame_of_pandas(formula: str, kind: str) -> None:
    answer = learn(formula, kind)
    from netsharp.microsoftml import sgd_optimizer

    network = rx_neural_network(
        formula,
        frame(),
        kind,
        num_iterations=4,
        mini_batch_size=5,
        verbose=0,
        optimizer=sgd_optimizer(learning_rate=0.1, momentum=0.5, nag=True),
    )
    assert (answer["label"], answer["features"]) == (network.label, list(network.features))
    assert answer["definition"] == network.model_.specification.rstrip()
    trained = {"type": kind, "label": answer["label"], "features": answer["features"]}
    came = scored(
        answer["model"],
        trained,
        list(COLUMNS.values()),
        NAMES,
        whole=False,
        extra=["more"],
        suffix=".nn",
    )
    expected = rx_predict(network, frame(), extra_vars_to_write="more", suffix=".nn")
    more, *scores = came["columns"]
    assert more == {"name": "more", "kind": "own"}
    named = [f"Score.{level}.nn" for level in LEVELS] if kind == "multiClass" else None
    names = [one["name"] for one in scores]
    assert names == ([list(expected)[1], *named] if named else list(expected)[1:])
    for column, name in zip(scores, list(expected)[1:], strict=True):
        wanted = [None if pd.isna(one) else one for one in expected[name]]
        assert values_of(column) == wanted


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"numIterations": 0.0}, "numIterations: 0"),
        ({"numIterations": 2.5}, "numIterations: a whole number is needed, found 2.5"),
        ({"type": "ranks"}, "type must be one of binary"),
        ({"normalize": "some"}, "normalize must be one of"),
        ({"netDefinition": "input D [0];\noutput O [1] from D all;"}, "line 1, column 10: NS050"),
    ],
)
def test_a_refusal_is_a_sentence_in_words_of_r(arguments: dict[str, Any], message: str) -> None:
    answer = learn("`size` ~ `place`", "regression", **arguments)
    assert answer["error"].startswith(message)
    assert not answer["warnings"]
    assert "model" not in answer


def test_a_definition_that_is_no_file_is_reported_by_its_name() -> None:
    answer = learn("`size` ~ `place`", "regression", netDefinition="nowhere/a.nn")
    assert answer["error"] == "nowhere/a.nn cannot be read: No such file or directory."


def test_warnings_come_with_the_answer() -> None:
    answer = learn("`size` ~ `place`", "regression", normalize="warn")
    assert "error" not in answer
    answer = learn("`wet` ~ `size`", "binary", normalize="warn")
    assert "normalize='Yes'" in answer["warnings"][0]


def test_a_model_that_is_cut_off_is_refused() -> None:
    model = learn("`size` ~ `place`", "regression")["model"]
    trained = {"type": "regression", "label": "size", "features": ["place"]}
    columns = list(COLUMNS.values())
    answer = scored(model[:99], trained, columns, NAMES, whole=False, extra=[], suffix="")
    assert answer["error"].startswith("The model is damaged")


def test_what_is_quoted_stays_as_it_is() -> None:
    assert (
        in_words_of_r("num_iterations of 'num_iterations'") == "numIterations of 'num_iterations'"
    )
    assert in_words_of_r("sgd_optimizer(...) is None") == "sgd(...) is NULL"
    known = {row.python for row in (*ARGUMENTS, *OPTIMIZERS) if row.r and row.python}
    assert known <= set(R_NAMES)
    assert not set(R_NAMES) & set(FUNCTIONS)
