"""What is inside, what is not, and where the roots of files and folders are."""

from __future__ import annotations

import os
import pathlib
import pickle

import pytest

from netsharp_lsp.project.disk_files import DiskFiles, FilesOfAMoment
from netsharp_lsp.project.roots import Roots, own_roots, own_settings_file, root_of, roots_around
from netsharp_lsp.project.walk import specifications_below
from netsharp_lsp.settings import SettingsError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")


@pytest.fixture
def project(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with a file, beside one that is outside."""
    (tmp_path / "project" / "sub").mkdir(parents=True)
    (tmp_path / "project" / "a.nn").write_text("inside")
    (tmp_path / "project-2").mkdir()
    (tmp_path / "project-2" / "b.nn").write_text("secret")
    return tmp_path / "project"


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("a.nn", True),
        (".", True),
        ("sub/../a.nn", True),
        ("sub/new.nn", True),
        ("../project/a.nn", True),
        ("..", False),
        ("../project-2/b.nn", False),
        ("sub/../../project-2/b.nn", False),
        ("/etc/passwd", False),
        ("/", False),
        ("a\0b", False),
        ("here/a.nn", True),
        ("out/b.nn", False),
        ("out/../project/a.nn", True),
        ("link.nn", False),
        ("chain.nn", False),
        ("round.nn", True),
        ("gone.nn", False),
    ],
)
def test_paths_are_compared_once_they_are_resolved(
    project: pathlib.Path, path: str, inside: bool
) -> None:
    for name, target in (
        ("here", "sub/.."),
        ("out", "../project-2"),
        ("link.nn", "../project-2/b.nn"),
        ("chain.nn", "link.nn"),
        ("round.nn", "round.nn"),
        ("gone.nn", "../project-2/nothing.nn"),
    ):
        (project / name).symlink_to(target)
    for keeps in (False, True):
        roots = Roots((str(project),), keeps=keeps)
        assert roots.holds(os.path.join(project, path)) == inside
        assert pickle.loads(pickle.dumps(roots)).holds(os.path.join(project, path)) == inside


def test_a_root_may_be_spelt_through_a_link(project: pathlib.Path) -> None:
    alias = project.parent / "alias"
    alias.symlink_to(project)
    roots = roots_around([str(alias)])
    assert roots.holds(str(alias / "a.nn"))
    assert roots.holds(str(project / "a.nn"))
    assert not roots.holds(str(alias / ".." / "project-2" / "b.nn"))
    assert Roots(("/",)).holds("/etc/passwd")


def test_a_named_file_is_read_wherever_it_leads_and_written_only_inside(
    project: pathlib.Path,
) -> None:
    (project / "link.nn").symlink_to("../project-2/b.nn")
    roots = roots_around([str(project / "link.nn")])
    assert roots.place(str(project / "link.nn")) == str(project.parent / "project-2" / "b.nn")
    assert roots.target(str(project / "link.nn")) is None
    assert roots.target(str(project / "a.nn")) == str(project / "a.nn")
    assert not roots.holds(str(project.parent / "project-2" / "c.nn"))


def test_what_was_a_folder_may_be_a_link_by_now(project: pathlib.Path) -> None:
    roots = Roots((str(project),))
    assert roots.holds(str(project / "sub" / "b.nn"))
    (project / "sub").rmdir()
    (project / "sub").symlink_to("../project-2")
    assert not roots.holds(str(project / "sub" / "b.nn"))


@pytest.mark.parametrize("mark", ["folder", "file"])
def test_the_root_is_the_work_tree_around(project: pathlib.Path, mark: str) -> None:
    assert root_of(str(project / "sub")) == str(project / "sub")
    if mark == "folder":
        (project / ".git").mkdir()
    else:
        (project / ".git").write_text("gitdir: elsewhere\n")
    assert root_of(str(project / "sub")) == str(project)
    assert roots_around([str(project / "sub" / "x.nn")]).holds(str(project / "a.nn"))


def test_files_in_the_manner_of_windows_are_looked_for_inside(project: pathlib.Path) -> None:
    files = DiskFiles((str(project),), roots=Roots((str(project),)))
    assert files.read("sub\\..\\a.nn") == b"inside"
    for path in ("..\\project-2\\b.nn", "../project-2/b.nn", "..\\project-2\\none", "../none"):
        assert files.read(path) is None
        assert not files.exists(path)
        assert files.outside(path)
    assert not files.outside("none.nn")
    besides = DiskFiles(("/", str(project)), roots=Roots((str(project),)))
    assert (besides.outside("none.nn"), besides.outside("../none")) == (False, True)
    assert files.names_in(".") == ["a.nn"]
    assert files.names_in("../project-2") == []


def test_a_walk_leaves_out_links_that_lead_out(project: pathlib.Path) -> None:
    (project / "in.nn").symlink_to("a.nn")
    (project / "out.nn").symlink_to("../project-2/b.nn")
    (project / "folder").symlink_to("../project-2")
    left: list[str] = []
    roots = roots_around([str(project)])
    found = specifications_below(str(project), lambda path: False, (".nn",), roots, left.append)
    assert found == [str(project / "a.nn"), str(project / "in.nn")]
    assert left == [str(project / "out.nn")]


def test_the_persons_own_settings_hold_roots_alone(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert own_settings_file() == str(tmp_path / ".config" / "netsharp" / "netsharp.toml")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert own_roots() == ()
    file = tmp_path / "netsharp" / "netsharp.toml"
    file.parent.mkdir()
    file.write_text('roots = ["/data", "~/tables"]\n')
    assert own_roots() == ("/data", str(tmp_path / "tables"))
    for text, reason in (
        ('roots = ["data"]', "must hold whole paths, found 'data'"),
        ("roots = 1", "must be a list of texts"),
        ('rots = ["/data"]', "unknown key 'rots'. Did you mean 'roots'?"),
        ('ignore = ["NS001"]', "The only key here is 'roots'"),
    ):
        file.write_text(text)
        with pytest.raises(SettingsError, match=reason.replace("?", r"\?")):
            own_roots()


def test_files_of_a_moment_are_those_of_the_disk_asked_once_each(
    project: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "folder").mkdir()
    (project / "file.bs").write_text("x = 1")
    monkeypatch.chdir(project)
    disk, moment = DiskFiles(), FilesOfAMoment()
    for path in ("file.bs", "folder", "none.bs", "folder/../file.bs", "folder\\..\\file.bs", "\0"):
        for question in ("find", "exists", "kind", "read", "outside"):
            expected = getattr(disk, question)(path)
            assert getattr(moment, question)(path) == expected, (question, path)
            assert getattr(moment, question)(path) == expected, (question, path)
    assert moment.locate("none.bs") == disk.locate("none.bs")
    found = moment.find("file.bs")
    (project / "file.bs").unlink()
    assert moment.find("file.bs") == found
    assert FilesOfAMoment().find("file.bs") is None
