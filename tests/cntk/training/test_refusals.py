"""What is not done is refused by name and place before anything is computed, never ignored."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from netsharp_lsp.cntk.commands.runs import OverDisk
from netsharp_lsp.cntk.configuration.options import block
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.cntk.training import options as supported
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.refusals import Refused
from netsharp_lsp.cntk.training.samples.reader import reader_of
from netsharp_lsp.project.roots import roots_around
from netsharp_lsp.workspace import Run
from tests.cntk.training.experiments import Follower, made, refused, run
from tests.conftest import PIPES

#: Values other than the default, by the kind of an option.
OTHERS = {"truth": ("true", "false"), "integer": ("3", "4"), "number": ("0.25", "0.5")}
TABLES = ("SGD", "AutoAdjust", "CNTKTextFormatReader", "test", "write", "train", "top level")


def unread(table: str) -> list[tuple[str, str]]:
    """Options of a table that are neither read nor without effect, each with an odd value."""
    known = f"{supported._READ.get(table, '')} {supported._IDLE.get(table, '')}".lower().split()
    found = block(table)
    assert found is not None
    pairs = []
    for option in found:
        if option.name.lower() in known or option.inside:
            continue
        values = option.values if option.kind == "choice" else OTHERS.get(option.kind, ("odd",))
        neutral = supported._NEUTRAL.get(option.name.lower(), (option.default or "",))
        odd = next((one for one in values if one.lower() not in neutral), None)
        if odd is not None:
            pairs.append((option.name, odd))
    return pairs


CASES = [(table, name, value) for table in TABLES[:2] for name, value in unread(table)]


def test_of_a_reader_that_is_not_done_its_name_is_reported_alone(tmp_path: Path) -> None:
    folder = made(tmp_path)
    columns = (
        "learn=[reader=[readerType=HTKMLFReader;features=[dim=2;start=0;scpFile=a.scp]"
        ";labels=[dim=1;start=2;labelDim=3;labelMappingFile=names.txt;mlfFile=a.mlf]]]"
    )
    answer, _ = run(folder, "command=learn", columns)
    assert answer.code == 2, answer.reports
    (reported,) = answer.complaints
    assert "the reader HTKMLFReader" in reported


def test_a_model_below_a_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    folder = made(tmp_path)
    answer, follower = run(folder, "command=learn", "modelPath=data.ctf/net.dnn")
    assert answer.code == 2
    assert "net.dnn: cannot be written: " in answer.complaints[0]
    assert not follower.epochs


@pytest.mark.parametrize(("table", "name", "value"), CASES)
def test_an_option_of_training_that_is_not_done(
    table: str, name: str, value: str, tmp_path: Path
) -> None:
    folder = made(tmp_path)
    path = folder / "net.cntk"
    path.write_text(path.read_text().replace("maxEpochs = 4", f"maxEpochs = 4 ; {name} = {value}"))
    answer, follower = run(folder, "command=learn")
    if answer.reports:  # the value is wrong in itself
        assert answer.code == 1
    else:
        assert answer.code == 2, answer.complaints
        assert any(f"'{name}={value}'" in one and "line 13" in one for one in answer.complaints)
    assert follower.events == []
    assert not (folder / "out").exists()


def test_there_are_options_to_refuse() -> None:
    """What a table holds is read, without effect, or refused: nothing is ignored."""
    for table in TABLES[:2]:
        known = f"{supported._READ.get(table, '')} {supported._IDLE.get(table, '')}".lower().split()
        found = block(table)
        assert found is not None
        refused = {name.lower() for name, _ in unread(table)}
        assert refused | set(known) == {option.name.lower() for option in found}
        assert not refused.intersection(known)
    assert len(CASES) > 15
    assert all(unread(table) for table in ("CNTKTextFormatReader", "write", "test"))


def test_every_option_that_is_named_is_one() -> None:
    for known in (supported._READ, supported._IDLE):
        for table, names in known.items():
            found = block(table)
            if found is None:
                from netsharp_lsp.cntk.configuration.options import reader_block

                found = reader_block(table)
            assert found is not None, table
            for name in names.split():
                assert found.find(name) is not None, (table, name)


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ('format = "dense" } ; labels', 'format = "full" } ; labels', "cannot be 'full'"),
        ("learningRatesPerSample = 0.05:0.02", "", "nor learningRatesPerSample is found"),
        ("momentumAsTimeConstant = 30", "momentumPerMB=.9 ; momentumPerSample=.9", "both given"),
        ("momentumAsTimeConstant = 30", "momentumPerSample = 1.5", "momentumPerSample"),
        ("minibatchSize = 10:16", "minibatchSize = 0", "minibatchSize"),
        ("maxEpochs = 4", "maxEpochs = 0", "'maxEpochs' has to be 1 or more"),
        ("maxEpochs = 4", "maxEpochs = -1", "'maxEpochs' has to be 1 or more"),
        ("maxEpochs = 4", "maxEpochs = 1_0", "an integer"),
        ("0.05:0.02", "nan", "learningRatesPerSample"),
        ("0.05:0.02", "0.05:inf", "learningRatesPerSample"),
        ("0.05:0.02", "1e39", "learningRatesPerSample"),
        ("momentumAsTimeConstant = 30", "momentumAsTimeConstant = nan", "momentumAsTimeConstant"),
        ("momentumAsTimeConstant = 30", "momentumPerMB = nan", "momentumPerMB"),
        ("maxEpochs = 4", "maxEpochs = 4 ; minLearningRatePerSample = nan", "minLearningRate"),
        ("maxEpochs = 4", "maxEpochs = 4 ; clippingThresholdPerSample = -1", "more than 0"),
        ("maxEpochs = 4", "maxEpochs = 4 ; clippingThresholdPerSample = nan", "a number is exp"),
        ("maxEpochs = 4", "maxEpochs = 4 ; varianceTimeConstant = 0", "more than 0"),
        ("maxEpochs = 4", "maxEpochs = 4 ; L2RegWeight = -0.1", "must not be negative"),
        ("maxEpochs = 4", "maxEpochs = 4 ; gradUpdateType = adam", "'gradUpdateType' is 'adam'"),
        ("maxEpochs = 4", "maxEpochs = 4 ; epochSize = 3", "smaller than a minibatch of 16"),
        ("maxEpochs = 4", "maxEpochs = 4 ; trainCriterionNodeName = odd", "no node 'odd'"),
        ("labels = { dim = 3", "labels = { dim = 4", "has 4 numbers per sample"),
        (
            '        features = { dim = 2 ; format = "dense" } ; labels',
            'feature = { dim = 2 ; format = "dense" } ; labels',
            "Did you mean",
        ),
        ('action = "train"', 'action = "train" ; cvReader = { file = "data.ctf" }', "'cvReader'"),
        (
            'file = "data.ctf"',
            'file = "data.ctf" ; readerType = "LibSVMBinaryReader"',
            "the reader LibSVMBinaryReader (reads sparse samples from a binary file) is",
        ),
        ("command = learn:score:tell", "command = learn:other", "there is no such block"),
        ('modelPath = "out/net.dnn"', 'modelPath = "../../net.dnn"', "outside"),
    ],
)
def test_what_cannot_be_done_is_reported_before_anything_is(
    before: str, after: str, word: str, tmp_path: Path
) -> None:
    message = refused(made(tmp_path), before, after)
    assert any(word in one for one in message), message


@pytest.mark.parametrize(
    "name",
    [
        *("HTKMLFReader", "HTKDeserializers", "Kaldi2Reader", "KaldiReader", "LibSVMBinaryReader"),
        *("SparsePCReader", "DSSMReader", "BinaryReader"),
    ],
)
def test_a_reader_that_is_not_read_is_refused_by_name_with_the_way_out(
    name: str, tmp_path: Path
) -> None:
    """At its place, with what it reads."""
    folder = made(tmp_path)
    path = folder / "net.cntk"
    before = 'reader = { file = "data.ctf"'
    named = f'reader = {{\n readerType = "{name}" ; file = "data.ctf"'
    path.write_text(path.read_text().replace(before, named, 1))
    with pytest.raises(Refused) as raised:
        refuse_reader(folder)
    ((message, where),) = raised.value.refusals
    assert message.startswith(f"the reader {name} (")
    assert "Write the data in CNTK's text format" in message
    assert path.read_bytes()[slice(*where[1:])].decode() == name


def refuse_reader(folder: Path) -> None:
    """Ask for the reader of the first command, whatever rules say of its block."""
    files = OverDisk({}, roots_around([os.fspath(folder)], ()))
    experiment = Experiment(Run(("configFile=net.cntk",), os.fspath(folder)), files)
    scope = experiment.commands[0].scope
    assert scope is not None
    found = Options(scope).found("reader")
    assert found is not None
    reader_of(found, scope, experiment.files, otherwise=True)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b"|features 1 a |labels 1 0 0\n", "'a' in column 'features' is not a number"),
        (b"|features 1 2\n", "has no sample of 'labels'"),
        (b"|features 1 2 |labels 1 0 0", "does not end"),
    ],
)
def test_data_that_is_wrong_ends_with_its_line(line: bytes, word: str, tmp_path: Path) -> None:
    folder = made(tmp_path)
    with (folder / "data.ctf").open("ab") as stream:
        stream.write(line)
    answer, follower = run(folder)
    assert answer.code == 1
    (sentence,) = answer.complaints
    assert "data.ctf, line 151" in sentence
    assert word in sentence
    assert follower.events == []


def test_a_rate_that_is_too_large_is_a_sentence(tmp_path: Path) -> None:
    folder = made(tmp_path)
    path = folder / "net.cntk"
    path.write_text(path.read_text().replace("0.05:0.02", "1e38"))
    answer, follower = run(folder)
    assert answer.code == 1
    assert any("is not a number (NAN)" in one for one in follower.notices)
    assert not (folder / "out" / "net.dnn").exists()


def test_a_test_without_a_model_is_a_sentence(tmp_path: Path) -> None:
    answer, _ = run(made(tmp_path), "command=score")
    assert answer.code == 2
    assert "net.dnn" in answer.complaints[0]


@pytest.mark.parametrize("command", ["learn", "score", "tell"])
def test_a_model_outside_is_neither_read_nor_written(command: str, tmp_path: Path) -> None:
    run(made(tmp_path / "other"), "command=learn")
    folder = made(tmp_path / "run")
    foreign = tmp_path / "other" / "out" / "net.dnn"
    before = foreign.read_bytes()
    for path in (str(foreign), "../other/out/net.dnn"):
        answer, follower = run(folder, f"command={command}", f"modelPath={path}")
        assert answer.code == 2
        (sentence,) = answer.complaints
        assert "outside the folders that are" in sentence
        assert f"'--root {Path(path).parent.as_posix()}' allows" in sentence or path[:2] == ".."
        assert (follower.events, follower.lines) == ([], [])
    assert foreign.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("name", ["net.dnn.1", "net.dnn.1.ckp", "net.dnn.2", "net.dnn.2.ckp"])
def test_a_link_at_the_place_of_a_checkpoint_leads_nowhere(name: str, tmp_path: Path) -> None:
    run(made(tmp_path / "other"), "command=learn", "keepCheckPointFiles=true")
    folder = made(tmp_path / "run")
    run(folder, "command=learn", follower=Follower(ends=1))
    foreign, link = tmp_path / "other" / "out" / name, folder / "out" / name
    before = foreign.read_bytes()
    link.unlink(missing_ok=True)
    link.symlink_to(foreign)
    answer, follower = run(folder, "command=learn")
    assert answer.code == 2
    assert "outside the folders" in answer.complaints[0]
    assert foreign.read_bytes() == before
    assert not (folder / "out" / "net.dnn").exists()
    assert isinstance(follower, Follower)


@pytest.mark.parametrize(
    ("made_as", "word"),
    [("folder", "is a folder. Name a file in it."), ("", "no block"), ("# nothing\n", "no block")],
)
def test_a_configuration_without_anything_is_a_sentence(
    made_as: str, word: str, tmp_path: Path
) -> None:
    path = tmp_path / "net.cntk"
    path.mkdir() if made_as == "folder" else path.write_text(made_as)
    answer, _ = run(tmp_path)
    (sentence,) = answer.complaints
    assert (answer.code, word in sentence, "net.cntk: " in sentence) == (2, True, True), sentence


@pytest.mark.parametrize("kind", [pytest.param("pipe", marks=PIPES), "folder"])
def test_a_log_that_is_no_file_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    folder = made(tmp_path)
    log = folder / "log"
    os.mkfifo(log) if kind == "pipe" else log.mkdir()
    answer, follower = run(folder, "command=learn", "stderr=log")
    (sentence,) = answer.complaints
    assert (answer.code, f"'log' is a {kind}, not a file." in sentence) == (2, True), sentence
    assert not (folder / "out").exists()
    assert follower.lines == []


@PIPES
@pytest.mark.parametrize("name", ["data.ctf", "out/net.dnn"])
def test_pipes_in_place_of_data_and_models_are_not_waited_for(name: str, tmp_path: Path) -> None:
    folder = made(tmp_path)
    place = folder / name
    place.unlink(missing_ok=True)
    place.parent.mkdir(exist_ok=True)
    os.mkfifo(place)
    answer, follower = run(folder, "command=score")
    sentences = [
        *answer.complaints,
        *(str(one.message) for r in answer.reports for f in r for one in f.diagnostics),
    ]
    assert answer.code in (1, 2)
    assert any("pipe" in one for one in sentences), sentences
    assert follower.events == []


def test_labels_outside_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("secret\nwords\nhere\n")
    folder = made(tmp_path / "run")
    message = 'format = { type = "category" ; labelMappingFile = "../labels.txt" } ; outputPath'
    path = folder / "net.cntk"
    path.write_text(path.read_text().replace("outputPath", message))
    answer, _ = run(folder)
    assert answer.code == 2
    assert "'../labels.txt' lies outside the folders that are read here" in answer.printed[0]
    assert not list((folder / "out").glob("told*"))


def test_commands_are_done_as_they_are_listed(tmp_path: Path) -> None:
    folder = made(tmp_path)
    assert run(folder, "command=learn")[0].code == 0
    answer, follower = run(folder, "command=tell:score")
    assert answer.code == 0
    assert [one["command"] for one in follower.events] == ["score"]
    assert len((folder / "out" / "told.PosteriorProb").read_text().splitlines()) == 150
    assert isinstance(follower, Follower)


def test_a_network_without_room_is_refused_before_data_are_read(tmp_path: Path) -> None:
    folder = made(tmp_path)
    path = folder / "net.cntk"
    path.write_text(path.read_text().replace("2:8:3", "2:1000000000*3:3"))
    answer, _ = run(folder, "command=learn")
    assert answer.code == 2
    assert "of memory" in answer.complaints[0]
