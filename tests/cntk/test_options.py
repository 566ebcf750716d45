"""The table of options: complete, consistent, and what the program's own text says of it."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.configuration.options import (
    ACTIONS,
    BLOCKS,
    MODULES,
    READERS,
    Block,
    Option,
    block,
    command_block,
    find,
    inside,
    nearest_option,
    reader_block,
    within,
)
from netsharp_lsp.cntk.configuration.options.reading import TableError, Tables
from netsharp_lsp.cntk.configuration.options.table import Span

ROWS = [(one, option) for one in BLOCKS.values() for option in one]
KINDS = {"number", "integer", "truth", "text", "choice", "input", "output", "nodes", "names"}


@pytest.mark.parametrize("one", BLOCKS.values(), ids=lambda one: one.name)
def test_a_block_says_what_it_is_and_names_each_option_once(one: Block) -> None:
    assert one.description.endswith((".", "..."))
    names = [option.name.lower() for option in one]
    assert len(names) == len(set(names))
    assert not one.any_name or block(one.any_name) is not None


@pytest.mark.parametrize(
    ("one", "option"), ROWS, ids=[f"{one.name}.{option.name}" for one, option in ROWS]
)
def test_a_row_is_whole(one: Block, option: Option) -> None:
    assert option.description.endswith(".")
    assert option.kind in KINDS | {"block", "blocks"}
    assert bool(option.inside) == (option.kind in ("block", "blocks"))
    assert option.inside in ("", "reader") or block(option.inside) is not None
    assert option.kind != "choice" or option.values
    assert not option.required or option.default is None
    assert option.span is None or option.kind in ("number", "integer")


def test_defaults_can_be_read() -> None:
    for _, option in ROWS:
        default = option.default
        if default and option.kind == "truth" and " " not in default:
            assert default in ("true", "false", *option.values)
        if default and option.kind == "choice":
            known = {it.lower() for it in (*option.values, *option.old)}
            assert default.lower() in known


def test_options_are_found_whatever_their_case() -> None:
    training = block("sgd")
    assert training is not None
    found = training.find("MAXEPOCHS")
    assert found is not None
    assert (found.name, found.kind, found.required) == ("maxEpochs", "integer", True)
    assert training.find("nothing") is None
    assert {one.name for one, _ in find("maxepochs")} == {"SGD"}
    assert training.nearest("maxEpoch") == "maxEpochs"
    assert nearest_option("frmeMode", within(READERS["htkmlfreader"])) == "frameMode"


PATHS = [
    ("train", ("SGD", "AutoAdjust"), None, "AutoAdjust"),
    ("train", ("SGD", "ParallelTrain", "BlockMomentumSGD"), None, "BlockMomentumSGD"),
    ("train", ("reader",), None, "CNTKTextFormatReader"),
    ("train", ("reader", "input", "features"), None, "stream"),
    ("train", ("cvReader", "features"), "ImageReader", "image section"),
    ("test", ("reader", "labels"), "HTKMLFReader", "speech section"),
    ("write", ("format",), None, "format"),
    ("write", ("writer", "z"), None, "written"),
    ("train", ("SimpleNetworkBuilder",), None, "SimpleNetworkBuilder"),
    ("train", ("NDLNetworkBuilder",), None, "NDLNetworkBuilder"),
]


@pytest.mark.parametrize(("action", "path", "reader", "name"), PATHS)
def test_a_path_leads_to_its_table(
    action: str, path: tuple[str, ...], reader: str | None, name: str
) -> None:
    at: Block | None = command_block((action,))
    for key in path:
        assert at is not None
        at = inside(at, key, reader)
    assert at is not None
    assert at.name == name


def test_readers_by_type() -> None:
    assert reader_block(None) is READERS["cntktextformatreader"]
    composed = reader_block(None, composed=True)
    assert composed is not None
    assert composed.name == "CompositeDataReader"
    assert reader_block("imagereader") is READERS["imagereader"]
    assert reader_block("Another") is None


def test_what_may_stand_in_a_block_is_what_anything_in_it_asks_for() -> None:
    names = {option.name for option in within(ACTIONS["train"])}
    assert {"maxEpochs", "loadBestModel", "frameMode", "file", "run"} <= names
    assert not {"dim", "alias"} & {option.name for option in within(READERS["imagereader"])}
    several = command_block(("train", "write"))
    assert {"SGD", "outputPath"} <= {option.name for option in several}
    assert command_block(()) is ACTIONS["train"]


def test_deserializers_are_those_of_their_libraries() -> None:
    kinds = block("deserializer")
    assert kinds is not None
    option = kinds.find("type")
    assert option is not None
    assert option.values == tuple(kind for kinds in MODULES.values() for kind in kinds)


TABLE = """\
# A page

### shared

| option | value | default | what it does |
|---|---|---|---|
| left | integer, required | | The left one. |

## block

It holds
something.

Blocks of any name: block

| option | value | default | what it does |
|---|---|---|---|
| + shared, optional | | | |
| kind | choice of a b '', formerly c, each, cased | a | Which. |
| share | number, from 0 below 1, here, write kind | `<x>` | How much. |
| inner | block of other block, or none | '' | What is inside. |
| LEFT | truth | true | The row that counts. |
"""


def test_what_a_table_says() -> None:
    (one,) = Tables.of([("page.md", TABLE)]).blocks.values()
    assert (one.name, one.description, one.any_name) == ("block", "It holds something.", "block")
    assert one.options == (
        Option("LEFT", "truth", "true", "The row that counts."),
        Option("kind", "choice", "a", "Which.", ("a", "b", ""), ("c",), each=True, cased=True),
        Option(
            "share",
            "number",
            "<x>",
            "How much.",
            (),
            (),
            Span(0, 1, True),
            False,
            False,
            True,
            instead="kind",
        ),
        Option("inner", "block", "", "What is inside.", ("none",), inside="other block"),
    )


ROWS_THAT_SAY_NOTHING = [
    ("| a | integer | | Says. | more |", "a row has 4 cells"),
    ("| a | number of things | |", "a row has 4 cells"),
    ("| a | whole | | Says. |", "'whole' is not a kind of value"),
    ("| a | integer, often | | Says. |", "'often' is not a clause about a value"),
    ("| a | integer, from here | | Says. |", "'from here' is not a clause"),
    ("| a | integer, from 0 to | | Says. |", "'from 0 to' is not a clause"),
    ("| + nobody | | | |", "'+ nobody' includes rows that do not exist"),
    ("| + block | | | |", "'+ block' includes rows that do not exist"),
    ("| + shared, twice | | | |", "'+ shared, twice' includes rows that do not exist"),
]


@pytest.mark.parametrize(("row", "sentence"), ROWS_THAT_SAY_NOTHING)
def test_a_row_that_says_nothing_is_refused_with_its_place(row: str, sentence: str) -> None:
    with pytest.raises(TableError, match=f"^page.md:{len(TABLE.splitlines()) + 1}: .*") as raised:
        Tables.of([("page.md", f"{TABLE}{row}\n")])
    assert sentence in str(raised.value)
