"""Advice of the engine, in the arguments that the calls of microsoftml have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netsharp_engine
from netsharp.microsoftml import rx_neural_network, sgd_optimizer
from netsharp_engine.train.settings.keys import KEYS
from netsharp_lsp.microsoftml.wording import in_words_of_the_call

#: Where sentences come from that no call of microsoftml can meet: files, kept models, further runs.
ELSEWHERE = ("reading", "storage", "settings", "loading", "session.py")
#: Beginnings of messages about settings that the calls do not set, and why none appears.
NEVER_MET = {
    "device = ": "no call names a device",
    "dropout = ": "only of held-out rows, and a call has none",
    "init = ": "only without a host",
    "quantize = ": "only without a host",
    "schedule = ": "no call sets a schedule",
    "validation = ": "only where rows are held out, and a call holds none",
}
#: A setting of ours that advice names.
OURS = re.compile(rf"\b(?:{'|'.join(key.name for key in KEYS)})\b ?= |\bexclude\b")
ROWS = pd.DataFrame({"a": np.arange(60.0), "y": [True, False, False] * 20})
PLAIN = "input D auto; hidden H [3] tanh from D all; output O [{}] {} from H all;"


def sentences() -> Iterator[tuple[str, str]]:
    """The texts of the engine's modules on data and training, with the file that each is in."""
    root = Path(netsharp_engine.__file__).parent
    for path in (*(root / "data").rglob("*.py"), *(root / "train").rglob("*.py")):
        if any(part in ELSEWHERE for part in path.relative_to(root).parts):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        pages = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
        inner = {
            id(part)
            for each in ast.walk(tree)
            if isinstance(each, ast.JoinedStr)
            for part in each.values
        }
        for node in ast.walk(tree):
            if id(node) in pages or id(node) in inner:
                continue
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path.name, node.value
            elif isinstance(node, ast.JoinedStr):
                yield (
                    path.name,
                    "".join(
                        str(part.value) if isinstance(part, ast.Constant) else "1"
                        for part in node.values
                    ),
                )


def test_no_advice_of_the_engine_names_settings_that_the_calls_lack() -> None:
    advice = {
        f"{name}: {in_words_of_the_call(text)}"
        for name, text in sentences()
        if " " in text and OURS.search(text) and not any(one in text for one in NEVER_MET)
    }
    assert len(advice) > 15
    assert [one for one in sorted(advice) if OURS.search(one)] == []


def refused(data: pd.DataFrame, **given: Any) -> str:
    """What a call says that is refused."""
    with pytest.raises(ValueError, match=r".") as error:
        rx_neural_network("y ~ .", data, verbose=0, **{"num_iterations": 2, **given})
    return str(error.value)


def warned(data: pd.DataFrame, **given: Any) -> str:
    """What a call warns of."""
    with pytest.warns(UserWarning, match=r"\.$") as warnings:
        rx_neural_network("y ~ .", data, verbose=0, **{"num_iterations": 2, **given})
    return " ".join(str(one.message) for one in warnings)


def test_rows_that_are_all_incomplete() -> None:
    message = refused(ROWS.assign(a=np.nan))
    assert message == (
        "Every row has a missing number or label, and such rows are left out. Fill them in data, "
        "or leave columns out of the formula."
    )


def test_a_number_that_is_not_finite_is_reported_with_its_row_in_the_data() -> None:
    holes = ROWS.assign(a=[np.nan, 1, 2, np.inf, *range(56)])
    assert refused(holes) == (
        "Row 4, feature 'a': the value is missing or not finite. Fill it, or leave its row out of "
        "data."
    )


def test_texts_that_name_rows() -> None:
    many = pd.concat([ROWS] * 20, ignore_index=True)
    many["name"] = [f"n{row}" for row in range(len(many))]
    assert refused(many).endswith("If it only names the rows, leave it out of the formula.")
    assert "leave it out of the formula" in warned(ROWS.assign(name=many["name"]))
    assert "leave it out of the formula" in warned(ROWS.assign(same=1))


def test_a_network_that_does_not_fit_the_method() -> None:
    two = PLAIN.format(2, "linear")
    assert "loss_function=squared_loss()" in refused(
        ROWS, net_definition=two, loss_function="logLoss"
    )


def test_steps_that_are_too_large() -> None:
    rate = sgd_optimizer(learning_rate=1e30)
    message = refused(ROWS.assign(y=ROWS["a"]), method="regression", optimizer=rate)
    assert re.search(r"Try optimizer=sgd_optimizer\(learning_rate=1e\+29\)\.$", message)
    message = warned(ROWS, num_iterations=1, optimizer=sgd_optimizer(learning_rate=1e-9))
    assert "Try init_wts_diameter=1, or" in message or "a larger num_iterations" in message
