"""Every option of every table is read, without effect and said once, or refused by its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from netsharp_lsp.cntk.configuration.options import block, reader_block
from netsharp_lsp.cntk.training import options as supported
from tests.cntk.training.experiments import CONFIGURATION, Follower, made, run
from tests.cntk.training.test_columns import in_columns
from tests.cntk.training.test_image_runs import COMPOSED, drawn
from tests.cntk.training.test_refusals import OTHERS
from tests.cntk.training.test_sentence_runs import SENTENCES, TAGGED_WORDS, language, tagging

#: Where a block of a table begins in the experiment.
PLACES = {
    "SGD": "maxEpochs = 4",
    "top level": 'precision = "float"',
    "train": 'action = "train"',
    "test": 'action = "test"',
    "write": 'action = "write"',
    "CNTKTextFormatReader": 'file = "data.ctf"',
    "stream": 'format = "dense"',
    "cv": 'action = "cv" ; crossValidationInterval = 1:1:2',
    "SVD": 'action = "SVD"',
    "bnstat": 'action = "bnstat"',
    "dumpNode": 'action = "dumpNode"',
    "plot": 'action = "plot"',
    "edit": 'action = "edit" ; editPath = "edit.mel"',
    "UCIFastReader": 'readerType = "UCIFastReader"',
    "column section": "labelDim = 3",
    "ImageReader": 'readerType = "ImageReader"',
    "image section": 'cropType = "center"',
    "CompositeDataReader": "reader = {",
    "deserializer": 'type = "ImageDeserializer"',
    "deserialized stream": "features = {",
    "transform": 'type = "Scale"',
    "LMSequenceReader": 'readerType = "LMSequenceReader"',
    "word section": 'labelType = "Category"',
    "LUSequenceReader": 'readerType = "LUSequenceReader"',
    "tag section": 'labelType = "Category"',
}
#: Readers that replace that of the first command.
READERS = {
    "UCIFastReader": """readerType = "UCIFastReader" ; file = "data.ctf"
        features = { dim = 2 ; start = 0 }
        labels = { dim = 1 ; start = 2 ; labelDim = 3 ; labelMappingFile = "names.txt" }""",
    "ImageReader": """readerType = "ImageReader" ; file = "map.txt"
        features = { width = 8 ; height = 8 ; channels = 3 ; cropType = "center" }
        labels = { labelDim = 3 }""",
    "CompositeDataReader": """deserializers = ({ type = "ImageDeserializer" ; module = "ImageReader"
        file = "map.txt" ; input = {
            features = { transforms = ({ type = "Scale" ; width = 8 ; height = 8 ; channels = 3 }) }
            labels = { labelDim = 3 } } })""",
    "LMSequenceReader": """readerType = "LMSequenceReader" ; file = "text.txt"
        features = { dim = 0 }
        labelIn = { dim = 1 ; labelDim = 21 ; labelType = "Category" }
        labels = { dim = 1 ; labelType = "NextWord" ; labelDim = 21 }""",
    "LUSequenceReader": """readerType = "LUSequenceReader" ; file = "text.txt"
        features = { dim = 0 }
        labelIn = { dim = 1 ; labelDim = 21 ; labelType = "Category" }
        labels = { dim = 1 ; labelType = "Category" ; labelDim = 21 }""",
}
INSIDE = {
    "column section": "UCIFastReader",
    "image section": "ImageReader",
    "deserializer": "CompositeDataReader",
    "deserialized stream": "CompositeDataReader",
    "transform": "CompositeDataReader",
    "word section": "LMSequenceReader",
    "tag section": "LUSequenceReader",
}
#: Commands that are done in the place of the first.
COMMANDS = ("cv", "SVD", "bnstat", "dumpNode", "plot", "edit")


def odd(table: str, names: set[str]) -> list[tuple[str, str]]:
    """Options of a table by their names, each with a value that it does not have otherwise."""
    found = block(table) or reader_block(table)
    assert found is not None
    pairs = []
    for option in found:
        if option.name.lower() not in names or option.inside:
            continue
        values = option.values if option.kind == "choice" else OTHERS.get(option.kind, ("odd",))
        neutral = supported._NEUTRAL.get(option.name.lower(), (option.default or "",))
        value = next((one for one in values if one.lower() not in neutral), None)
        if value is not None:
            pairs.append((option.name, value))
    return pairs


def named(table: str) -> tuple[set[str], set[str], set[str]]:
    """The names of a table: read, without effect, and all others."""
    found = block(table) or reader_block(table)
    assert found is not None
    same = supported._SAME.get(table, table)
    read, idle = (
        set(known.get(same, "").lower().split()) for known in (supported._READ, supported._IDLE)
    )
    return read, idle, {option.name.lower() for option in found} - read - idle


def experiment(table: str, folder: Path, lines: list[tuple[str, str]]) -> Path:
    """The experiment with lines in a block of a table."""
    text = CONFIGURATION
    reader = READERS.get(INSIDE.get(table, table))
    if reader is not None:
        first, last = text.index("reader = {"), text.index("score = {")
        text = f"{text[:first]}reader = {{ {reader} }}\n}}\n{text[last:]}"
        if "mage" in reader:
            text = text.replace("layerSizes = 2:", "layerSizes = 192:")
    if table in COMMANDS:
        text = text.replace('action = "train"', PLACES[table])
    at = text.index(PLACES[table]) + len(PLACES[table])
    text = "".join([text[:at], *(f"\n{name} = {value}" for name, value in lines), "\n", text[at:]])
    made(folder)
    (folder / "net.cntk").write_text(text)
    (folder / "edit.mel").write_text('m = LoadModel ("out/net.dnn")\n')
    return folder


def summary(table: str, folder: Path) -> tuple[int, list[str]]:
    """The code of the one command that has a block of the table, and all that is reported of it."""
    command = {"test": "score", "write": "tell"}.get(table, "learn")
    answer, follower = run(folder, f"command={command}")
    found = [*answer.complaints, *answer.printed, *follower.notices]
    found += [one.message for r in answer.reports for file in r for one in file.diagnostics]
    return answer.code, found


def refusable() -> list[str]:
    """The tables of which something is not done; the rules of SGD have a test for each option."""
    return [one for one in PLACES if one != "SGD" and odd(one, named(one)[2])]


def idle_messages(follower: Follower) -> Counter[str]:
    """The options that are said to be without effect, each as often as it is."""
    reported = (one for one in follower.notices if one.startswith("without effect here: "))
    return Counter(
        word.strip(",.") for one in reported for word in one.partition(": ")[2].split(", ")
    )


@pytest.mark.parametrize("table", refusable())
def test_what_is_not_done_is_refused_by_its_name(table: str, tmp_path: Path) -> None:
    lines = odd(table, named(table)[2])
    code, reported = summary(table, experiment(table, tmp_path / "run", lines))
    assert code in (1, 2)
    lacking = [name for name, _ in lines if not any(f"'{name}" in one for one in reported)]
    assert lacking == [], reported
    assert not (tmp_path / "run" / "out").exists()


@pytest.mark.parametrize("table", ["top level", "test", "SGD", "CNTKTextFormatReader"])
def test_what_has_no_effect_is_reported_once_and_has_none(table: str, tmp_path: Path) -> None:
    """All of a table at once: the losses are those of a run without."""
    climbing = {"traceLevel", "frameMode", "randomSeedOffset"}  # blocks inside read these
    lines = [one for one in odd(table, named(table)[1]) if one[0] not in climbing]
    assert len(lines) > 1
    items = "command=learn:score", "learn=[SGD=[maxEpochs=1]]"
    plain, whole = run(experiment(table, tmp_path / "plain", []), *items)
    answer, follower = run(experiment(table, tmp_path / "run", lines), *items)
    assert (plain.code, answer.code) == (0, 0), (plain.complaints, answer.complaints)
    losses = [[one["loss"] for one in each.events if "loss" in one] for each in (whole, follower)]
    assert losses[0] == losses[1]
    assert idle_messages(follower) == Counter({name: 1 for name, _ in lines})


#: What runs with each of the other readers, and where its block begins.
RUNS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "UCIFastReader": (in_columns, 'readerType = "UCIFastReader"'),
    "ImageReader": (drawn, 'readerType = "ImageReader"'),
    "CompositeDataReader": (
        lambda folder: drawn(folder, COMPOSED, random="true"),
        "randomize = true",
    ),
    "deserializer": (
        lambda folder: drawn(folder, COMPOSED, random="true"),
        'type = "ImageDeserializer"',
    ),
    "LMSequenceReader": (
        lambda folder: language(folder, SENTENCES, beside=1, block=1),
        'readerType = "LMSequenceReader"',
    ),
    "LUSequenceReader": (
        lambda folder: tagging(folder, TAGGED_WORDS, beside=1, equal="true"),
        'readerType = "LUSequenceReader"',
    ),
}


@pytest.mark.parametrize("table", RUNS)
def test_what_has_no_effect_in_other_readers_is_reported_once_and_has_none(
    table: str, tmp_path: Path
) -> None:
    make, place = RUNS[table]
    lines = odd(table, named(table)[1])
    assert len(lines) > 2
    items = "command=learn", "learn=[SGD=[maxEpochs=1]]"
    whole, losses = make(tmp_path / "plain"), []
    changed = make(tmp_path / "run")
    text = (changed / "net.cntk").read_text()
    assert place in text
    added = "".join(f"\n{name} = {value}" for name, value in lines)
    (changed / "net.cntk").write_text(text.replace(place, f"{place}{added}\n", 1))
    for folder in (whole, changed):
        answer, follower = run(folder, *items)
        assert answer.code == 0, (answer.complaints, answer.reports)
        losses.append([one["loss"] for one in follower.events if "loss" in one])
    assert losses[0] == losses[1] != []
    assert idle_messages(follower) == Counter({name: 1 for name, _ in lines})


def test_there_is_something_to_refuse_and_to_say() -> None:
    assert len(refusable()) > 12
    assert sum(len(odd(table, named(table)[2])) for table in refusable()) > 40
