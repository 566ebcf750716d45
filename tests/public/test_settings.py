"""The settings that editors complete are those of the engine's table, as are their descriptions.

`pytest tests/public --update` regenerates `netsharp/_settings.py` and the table in the page.
"""

from __future__ import annotations

import inspect
import textwrap
import typing
from pathlib import Path

import pytest

import netsharp
from netsharp_engine.train import KEYS, Key, read_settings
from netsharp_engine.train.settings.keys import (
    HOST_ADAM_RATE,
    HOSTS,
    OPTIMIZERS,
    REGRESSION_RATE,
    SGD_RATE,
)
from netsharp_lsp import context
from netsharp_lsp.language import language_ids
from tests.public.page import PAGE, replaced

ROOT = Path(__file__).resolve().parents[2]
MODULE = ROOT / "netsharp" / "_settings.py"
HEAD = '''\
"""The settings of a training as types, made from the engine's table of keys.

`pytest tests/public --update` makes this module from the table.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

Path = str | os.PathLike[str]
#: A column by its name, or by its number from 1.
Column = str | int
#: What turns the `auto` of an output layer into a number of nodes.
Task = Literal[{tasks}]
#: Whose defaults apply.
Host = Literal[{hosts}]
#: The languages of texts.
Language = Literal[{languages}]


class TrainSettings(TypedDict, total=False):
    """Settings of a training; what is left out, or None, takes its default.

    They are the keys `[data]` and `[train]` of a run file, and arguments of `netsharp.train`.

    Since
    -----
    0.1
    """
'''
#: Keys of these sections have no effect in Python: nothing is written, and nothing tested.
TYPED_SECTIONS = ("data", "train")
WITHOUT_EFFECT = ("test", "checkpoint")
TYPES = {
    "text": "str",
    "truth": "bool",
    "integer": "int",
    "number": "float",
    "column": "Column",
    "columns": "Sequence[Column]",
    "labels": "Column | Sequence[Column]",
    "paths": "Path | Sequence[Path]",
    "split": "float | Path",
    "shuffling": 'bool | Literal["blocks"]',
    "operands": "str | bool",
    "threads": 'int | Literal["auto"]',
    "device": "str",
    "layer shares": "float | Mapping[str, float]",
    "class weights": 'Literal["balanced"] | Mapping[str, float]',
}


def typed_keys() -> list[Key]:
    kept = [key for key in KEYS if key.section in TYPED_SECTIONS]
    return [key for key in kept if key.name not in WITHOUT_EFFECT]


def words(choices: tuple[str, ...]) -> str:
    return ", ".join(f'"{choice}"' for choice in choices)


def type_of(key: Key) -> str:
    if key.name == "host":
        return "Host | None"
    return f"Literal[{words(key.choices)}] | None" if key.choices else f"{TYPES[key.kind]} | None"


def default_of(key: Key, host: str | None) -> object:
    return key.default if host is None else key.hosts.get(host, key.default)


def written(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return f'"{value}"' if isinstance(value, str) else str(value)


def sentences(key: Key) -> str:
    """The description of a key: what it is, its limits, its default."""
    reported = key.doc[0].upper() + key.doc[1:]
    limits = []
    if key.least is not None:
        limits.append(f"{'above' if key.open_least else 'at least'} {key.least:,.15g}")
    if key.most is not None and key.most < 2**63 - 1:
        limits.append(f"{'below' if key.open_most else 'at most'} {key.most:,.15g}")
    limited = f", {' and '.join(limits)}" if limits else ""
    first = key.default
    if first in (None, ()):
        return f"{reported}{limited}."
    others = [
        f'{written(default_of(key, host))} with host "{host}"'
        for host in HOSTS
        if default_of(key, host) != first
    ]
    if key.name == "learning_rate":
        own = f'{SGD_RATE:g} with optimizer "sgd", {REGRESSION_RATE:g} with it for a regression'
        others = [own, *others, f'{HOST_ADAM_RATE:g} with a host and optimizer "adam"']
    if key.name == "init":
        others.insert(0, '"uniform" where init_diameter is set')
    if key.name == "optimizer":
        others.insert(0, '"sgd" where momentum is set')
    also = f" ({', '.join(others)})" if others else ""
    return f"{reported}{limited}. Default: {written(first)}{also}."


def module_text() -> str:
    named = (context.TASKS, context.HOSTS, language_ids())
    tasks, hosts, languages = map(words, named)
    parts = [HEAD.format(tasks=tasks, hosts=hosts, languages=languages)]
    for key in typed_keys():
        parts.append(f"\n    {key.name}: {type_of(key)}\n")
        message = textwrap.fill(sentences(key), 93, subsequent_indent="    ")
        end = "\n    " if "\n" in message else ""
        parts.append(f'    """{message}{end}"""\n')
    return "".join(parts)


def table_text() -> str:
    rows = "".join(
        f"| `{key.name}` | {type_of(key).removesuffix(' | None').replace('|', 'or')} "
        f"| {sentences(key)} |\n"
        for key in typed_keys()
    )
    return f"| key | type | |\n|---|---|---|\n{rows}"


def test_types_and_words_are_those_of_the_table(update: bool) -> None:
    if update:
        MODULE.write_text(module_text(), encoding="utf-8")
    assert MODULE.read_text(encoding="utf-8") == module_text()


def test_the_page_has_the_table(update: bool) -> None:
    text = PAGE.read_text(encoding="utf-8")
    fresh = replaced(text, "settings", table_text())
    if update:
        PAGE.write_text(fresh, encoding="utf-8")
    assert fresh == PAGE.read_text(encoding="utf-8")


def test_every_key_is_typed_or_has_no_effect() -> None:
    typed = typing.get_type_hints(netsharp.TrainSettings)
    left_out = [key for key in KEYS if key.name not in typed]
    assert {key.name for key in left_out if key.section != "output"} == set(WITHOUT_EFFECT)
    assert set(typed) == {key.name for key in typed_keys()}


@pytest.mark.parametrize("host", [None, *HOSTS])
def test_the_defaults_that_are_reported_are_in_force(host: str | None) -> None:
    settings = read_settings({}, {"host": host})
    assert not isinstance(settings, list)
    for key in typed_keys():
        if key.name != "host":
            expected = () if key.kind == "paths" else default_of(key, host)
            assert getattr(settings, key.name) == expected


@pytest.mark.parametrize("key", [key for key in KEYS if key.choices], ids=lambda key: key.name)
def test_every_choice_is_taken(key: Key) -> None:
    for choice in key.choices:
        assert not isinstance(read_settings({}, {key.name: choice}), list)


def test_a_notebook_completes_them() -> None:
    signature = inspect.signature(netsharp.train)
    shown = [each for each in signature.parameters.values() if each.kind is each.KEYWORD_ONLY]
    watched = ["sample_weight", "callbacks", "verbose"]
    assert [each.name for each in shown] == [*watched, *(key.name for key in typed_keys())]
    assert str(signature.parameters["epochs"]) == "epochs: 'int | None' = None"
    assert OPTIMIZERS[0] in str(signature.parameters["optimizer"])
