"""What files say of a specification: read once for each state of the files it depends on."""

from __future__ import annotations

import os
from pathlib import Path

from netsharp_lsp.project.roots import Roots
from netsharp_lsp.project.surroundings import Reader

TABLE = "a,b,label\n1,2,x\n3,4,y\n5,6,z\n"


def furnish(folder: Path, run_file: str) -> str:
    (folder / "t.csv").write_text(TABLE)
    (folder / "net.toml").write_text(run_file)
    return str(folder / "net.nn")


def test_the_run_file_and_its_table_give_facts(tmp_path: Path) -> None:
    place = furnish(tmp_path, '[data]\ntrain = "t.csv"\n[train]\nhidden_nodes = 5\n')
    found = Reader().facts_around(place)
    assert found.context.known() == {
        "features": 2,
        "hidden_nodes": 5,
        "outputs": 3,
        "task": "multiclass",
    }
    assert found.run_file == str(tmp_path / "net.toml")
    names = ("net.toml", "t.csv", "net.safetensors")
    assert set(found.states) == {str(tmp_path / name) for name in names}


def test_without_tables_no_table_is_opened(tmp_path: Path) -> None:
    place = furnish(tmp_path, '[data]\ntrain = "t.csv"\n[train]\nhidden_nodes = 5\n')
    os.unlink(tmp_path / "t.csv")
    os.mkfifo(tmp_path / "t.csv")  # opening it would block for ever
    found = Reader().facts_around(place, tables=False)
    assert found.context.known() == {"hidden_nodes": 5}
    assert set(found.states) == {str(tmp_path / f"net.{end}") for end in ("toml", "safetensors")}


def test_it_is_fresh_until_a_file_it_rests_on_changes(tmp_path: Path) -> None:
    place = furnish(tmp_path, '[data]\ntrain = "t.csv"\n')
    reader = Reader()
    found = reader.facts_around(place)
    assert found.fresh
    (tmp_path / "t.csv").write_text(TABLE + "7,8,w\n")
    assert not found.fresh
    again = reader.facts_around(place)
    assert again.fresh
    assert again.context.outputs == 4
    os.unlink(tmp_path / "net.toml")
    assert not again.fresh
    alone = reader.facts_around(place)
    assert alone.fresh
    assert (alone.run_file, alone.context.known()) == (None, {})
    (tmp_path / "net.toml").write_text("")
    assert not alone.fresh


def test_a_model_is_where_a_run_keeps_it_and_only_if_it_lies_inside(tmp_path: Path) -> None:
    alone, reader = str(tmp_path / "net.nn"), Reader()
    found = reader.facts_around(alone)
    assert (found.model, found.fresh) == (None, True)
    (tmp_path / "net.safetensors").write_bytes(b"any")
    assert not found.fresh
    assert reader.facts_around(alone).model == str(tmp_path / "net.safetensors")
    place = furnish(tmp_path, '[output]\nmodel = "kept/other.safetensors"\n')
    assert reader.facts_around(place).model is None
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "other.safetensors").write_bytes(b"any")
    assert reader.facts_around(place).model == str(tmp_path / "kept" / "other.safetensors")
    (tmp_path / "net.toml").write_text("[output\n")
    assert reader.facts_around(place).model == str(tmp_path / "net.safetensors")
    os.unlink(tmp_path / "net.toml")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "net.safetensors").symlink_to(tmp_path / "net.safetensors")
    inside = Roots((str(tmp_path / "inside"),))
    assert reader.facts_around(str(tmp_path / "inside" / "net.nn"), roots=inside).model is None


def test_a_table_is_counted_once_for_each_state_and_use(tmp_path: Path) -> None:
    place = furnish(tmp_path, '[data]\ntrain = "t.csv"\n')
    reader = Reader()
    assert reader.facts_around(place).context.outputs == 3
    state = os.stat(tmp_path / "t.csv")
    # Two classes now, in a file that looks unchanged: who counts again says so.
    (tmp_path / "t.csv").write_text(TABLE.replace("z", "x"))
    os.utime(tmp_path / "t.csv", ns=(state.st_atime_ns, state.st_mtime_ns))
    (tmp_path / "net.toml").write_text('[data]\ntrain = "t.csv"\n[train]\nhidden_nodes = 3\n')
    assert reader.facts_around(place).context.outputs == 3
    (tmp_path / "net.toml").write_text('[data]\ntrain = "t.csv"\nexclude = ["a"]\n')
    assert reader.facts_around(place).context.known() == {"features": 1, "task": "binary"}
    (tmp_path / "net.toml").write_text('[data]\ntrain = "t.csv"\n')
    os.utime(tmp_path / "t.csv")
    assert reader.facts_around(place).context.known() == {"features": 2, "task": "binary"}


def test_a_new_file_may_be_one_that_a_pattern_means(tmp_path: Path) -> None:
    place = furnish(tmp_path, '[data]\ntrain = "data/part*.csv"\n')
    (tmp_path / "data").mkdir()
    reader = Reader()
    found = reader.facts_around(place)
    assert found.context.known() == {}
    (tmp_path / "data" / "part1.csv").write_text(TABLE)
    assert not found.fresh
    assert reader.facts_around(place).context.features == 2


def test_an_unreadable_run_file_is_a_sentence(tmp_path: Path) -> None:
    found = Reader().facts_around(furnish(tmp_path, "[data"))
    assert found.problem is not None
    assert found.problem.startswith(f"{tmp_path / 'net.toml'}: is not valid TOML")
    assert found.context.known() == {}
