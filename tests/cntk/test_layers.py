"""Files, arguments and included files, in their order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from netsharp_lsp.cntk.commands.runs import PlacedRun
from netsharp_lsp.cntk.configuration.items import read_item
from netsharp_lsp.cntk.configuration.meaning.configuration import resolve
from netsharp_lsp.cntk.run.files import RunFiles
from netsharp_lsp.limits import CONFIGURATION_BYTES
from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.workspace import NO_PREMISES, Run
from tests.cntk.texts import Memory, configuration, kinds, shown

BASE = "v = base\nTrain = [ reader = [ file = old ; keep = 1 ] ]\n"

ITEMS = [
    ("a.cntk", "files", ("a.cntk",)),
    ("a.cntk+b.cntk", "files", ("a.cntk", "b.cntk")),
    ("a.cntk++b.cntk+", "files", ("a.cntk", "b.cntk")),
    ("configFile=a.cntk+b.cntk", "files", ("a.cntk", "b.cntk")),
    ("CONFIGFILE=a.cntk", "files", ("a.cntk",)),
    ("currentDirectory=d", "folder", ("d",)),
    ("key=value", "assignment", ()),
    ("key = value", "assignment", ()),
    ("Train=[SGD=[maxEpochs=5]]", "assignment", ()),
    ("./key=value.cntk", "files", ("./key=value.cntk",)),
    ("2=3", "files", ("2=3",)),
]


@pytest.mark.parametrize(("text", "kind", "paths"), ITEMS)
def test_what_an_item_is(text: str, kind: str, paths: tuple[str, ...]) -> None:
    item = read_item(text)
    assert (item.kind, item.paths) == (kind, paths)


def test_layers_come_in_the_order_of_the_items() -> None:
    files = Memory({name: f"v = {name}\n".encode() for name in ("a", "b", "c")})
    for items, last in (
        (["a", "b", "c"], "c"),
        (["a+b", "v=x", "configFile=c"], "c"),
        (["a+b+c", "v=x"], "x"),
        (["v=x", "a"], "a"),
    ):
        resolved = resolve(items, files)
        assert shown(resolved) == {"v": last}, items
        assert not len(resolved.faults)


def test_an_argument_overrides_in_any_depth() -> None:
    resolved = configuration(BASE, "Train=[reader=[file=new]]", "v=x")
    assert shown(resolved) | {"Train": "", "Train.reader": ""} == {
        "v": "x",
        "Train": "",
        "Train.reader": "",
        "Train.reader.file": "new",
        "Train.reader.keep": "1",
    }
    value = {value.path: value for value in resolved.values()}["Train.reader.file"]
    assert str(value.origin) == "<command line>:2:21"
    assert [str(one.value) for one in value.overridden] == ["a.cntk:2:29"]


def test_the_guide_on_layers_is_right() -> None:
    second = "mnistTrain=[reader=[file=mynewfile.txt]]"
    first = "mnistTrain=[reader=[file=old;x=1]]\n"
    trees = [
        shown(configuration(first, "b.cntk", b=second)),
        shown(configuration(first, 'mnistTrain=[reader=[file="mynewfile.txt"]]')),
        shown(configuration(f"include=b.cntk\n{second}\n", b=first)),
    ]
    leaves = [{k: v for k, v in tree.items() if k.count(".") == 2} for tree in trees]
    assert leaves[0] == leaves[1] == leaves[2]
    assert leaves[0]["mnistTrain.reader.file"] == "mynewfile.txt"


def test_an_included_file_stands_where_its_line_stood() -> None:
    text = "x = 1\ninclude=b.cntk\nx = $y$3\n"
    assert shown(configuration(text, b="x = 2\ny = 7\n")) == {"x": "73", "y": "7"}
    block = "a = [\ninclude=b.cntk\n]\n"
    assert shown(configuration(block, b="x = 2\n"))["a.x"] == "2"


def test_includes_go_depth_first_and_each_file_once() -> None:
    resolved = configuration(
        "include=b.cntk+c.cntk\nv = a\nw = $v$\n",
        b="include=c.cntk\nlog1 = b\n",
        c="log2 = c\ninclude=a.cntk\n",
    )
    assert list(shown(resolved)) == ["log2", "log1", "v", "w"]
    assert kinds(resolved) == ["included-twice", "included-twice"]
    assert [source.name for source in resolved.layers.sources] == ["a.cntk", "b.cntk", "c.cntk"]


def test_what_is_named_after_is_not_included_before() -> None:
    resolved = configuration("include=b.cntk\nv = a\n", "b.cntk", b="v = b\n")
    assert shown(resolved) == {"v": "b"}
    assert kinds(resolved) == ["included-twice"]


NO_INCLUDES = [
    (" include=b.cntk", {"include": "b.cntk"}),
    ("Include=b.cntk", {"Include": "b.cntk"}),
    ("include =b.cntk", {"include": "b.cntk"}),
    ("# include=b.cntk", {}),
]


@pytest.mark.parametrize(("line", "values"), NO_INCLUDES)
def test_only_the_exact_line_includes(line: str, values: dict[str, str]) -> None:
    assert shown(configuration(line, b="v = b\n")) == values


BAD_INCLUDES = [
    ("include=none.cntk", "missing-include"),
    ("include=b.cntk # note", "missing-include"),
    ('include="b.cntk"', "missing-include"),
    ("include=$where$.cntk", "include-variable"),
]


@pytest.mark.parametrize(("line", "kind"), BAD_INCLUDES)
def test_includes_that_fail(line: str, kind: str) -> None:
    resolved = configuration(f"x = 1\n{line}\n", b="v = b\n")
    assert shown(resolved) == {"x": "1"}
    (fault,) = resolved.faults
    assert fault.kind == kind
    assert str(fault.place) == "a.cntk:2:9"
    assert not resolved.readable


def test_an_argument_may_include() -> None:
    assert shown(configuration("v = a\n", "include=b.cntk", b="v = b\n")) == {"v": "b"}


def test_a_long_chain_of_includes_ends() -> None:
    files = {str(n): f"include={n + 1}\n".encode() for n in range(2000)}
    assert kinds(resolve(["0"], Memory(files))) == ["deep"]


def test_the_folder_changes_from_where_it_is_reported(tmp_path: Path) -> None:
    """Configurations named before lie in the first folder, all that texts name in the last."""
    (tmp_path / "d" / "e").mkdir(parents=True)
    for path, text in {"a": "v = a\n", "d/b": "include=c\n", "d/e/c": "w = c\n"}.items():
        (tmp_path / path).write_text(text)
    items = ("a", "currentDirectory=d", "b", f"currentDirectory={tmp_path}/d/e")
    for directory in (os.fspath(tmp_path), os.path.relpath(tmp_path)):
        run = Run(items, directory)
        files = RunFiles(DiskFiles(), run)
        resolved = resolve(items, files, (), files.started)
        assert shown(resolved) == {"v": "a", "currentDirectory": f"{tmp_path}/d/e", "w": "c"}
        assert not len(resolved.faults)
        sources = [files.locate(one.name) for one in resolved.layers.sources]
        assert sources == [os.fspath(tmp_path / one) for one in ("a", "d/b", "d/e/c")]
        assert PlacedRun(run, NO_PREMISES, DiskFiles()).configurations == tuple(sources[:2])


def test_the_folder_may_be_a_link_to_elsewhere(tmp_path: Path) -> None:
    """No steps lead out of it to where the program was started."""
    (tmp_path / "deep" / "real").mkdir(parents=True)
    (tmp_path / "work").symlink_to(tmp_path / "deep" / "real")
    (tmp_path / "a").write_text("include=b\n")
    (tmp_path / "deep" / "real" / "b").write_text("v = b\n")
    items = ("a", "currentDirectory=work")
    files = RunFiles(DiskFiles(), Run(items, os.fspath(tmp_path)))
    resolved = resolve(items, files, (), files.started)
    assert shown(resolved) == {"currentDirectory": "work", "v": "b"}
    assert not len(resolved.faults)


def test_a_file_named_twice_and_one_that_is_not_there() -> None:
    twice = configuration("v = 1\n", "a.cntk")
    assert kinds(twice) == ["duplicate-file"]
    assert kinds(configuration("v = 1\n", "none.cntk")) == ["missing-file"]
    assert not twice.readable


TEXTS = [
    ("é = ü\n".encode(), {"é": "ü"}, []),
    ("é = ü\n".encode("latin-1"), {"é": "ü"}, ["encoding"]),
    (b"a = \x80\x93\x81", {"a": "€“\x81"}, ["encoding"]),
    (b"\xef\xbb\xbfa = 1", {"a": "1"}, []),
    ("a = ü\n".encode("utf-16"), {"a": "ü"}, ["encoding"]),
    (b"a = 1\0", {}, ["binary"]),
    (bytes(range(256)) * 50, {}, ["binary"]),
    (b"a = 1\n" * (CONFIGURATION_BYTES.most // 5), {}, ["binary"]),
]


@pytest.mark.parametrize(("data", "values", "faults"), TEXTS)
def test_bytes_of_every_kind(data: bytes, values: dict[str, str], faults: list[str]) -> None:
    resolved = resolve(["f"], Memory({"f": data}))
    assert shown(resolved) == values
    assert kinds(resolved) == faults
    for fault in resolved.faults:
        assert str(fault).startswith("f: ") or "f: " in str(fault)
        assert str(fault).endswith(".")
