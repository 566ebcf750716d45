"""Files of a revision are read without git: named as git takes names, and nothing fetched."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from netsharp_lsp.limits import GIT_OBJECT_BYTES
from netsharp_lsp.project.revision_files import NoGitError, RevisionFiles, split_revision
from tests.cli.command_line import netsharp
from tests.integrations.checkout import git

FILE = "sub/a.nn"
NAMES = (
    *("HEAD", "@", "@~2", "HEAD^", "HEAD^2", "HEAD^^", "HEAD~3^", "main", "light", "heavy"),
    *("heavy^{}", "heavy~1", "heavy^{commit}", "HEAD^{tree}", "feature/x", "heads/main"),
    *("refs/heads/main", "tags/light", "HEAD^0", "HEAD~0", "origin/main", "origin"),
)
#: Names that git does not know either, or that stand for no one commit.
NO_NAMES = (
    *("nope", "HEAD~50", "HEAD^3", "@{u}", ":/x", "-x", "--all", "../x", "HEAD^{blob}", "0000"),
    *("~1", "HEAD^{/fix}", "refs/heads", "x" * 100, "HEAD~99999999999999999999", "\ud800", "a\nb"),
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history with a merge, tags, a remote, packed and loose objects."""
    folder = tmp_path_factory.mktemp("history") / "r"
    (folder / "sub").mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    for each in range(6):
        (folder / FILE).write_text(f"input A [{each + 1}];\n" + "// filler\n" * 50)
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", str(each))
        if each == 2:
            git(folder, "tag", "light")
            git(folder, "tag", "--annotate", "--message", "heavy", "heavy")
            git(folder, "branch", "feature/x")
        if each == 4:
            git(folder, "gc", "--quiet")
            git(folder, "pack-refs", "--all")
    git(folder, "checkout", "--quiet", "feature/x")
    (folder / FILE).write_text("input Side [1];\n")
    git(folder, "commit", "--quiet", "--all", "--message", "side")
    git(folder, "checkout", "--quiet", "main")
    git(folder, "merge", "--quiet", "--strategy", "ours", "feature/x")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD~2")
    git(folder, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    return folder


def shown(root: Path, revision: str, name: str = FILE) -> str:
    return RevisionFiles(revision, str(root / name)).shown(str(root / name)).decode()


def refused(root: Path, revision: str = "HEAD", name: str = FILE) -> str:
    with pytest.raises(NoGitError) as caught:
        shown(root, revision, name)
    sentence = str(caught.value)
    assert sentence.startswith("git cannot show it: ")
    assert sentence.endswith(".")
    assert len(sentence) < 200
    return sentence


@pytest.mark.parametrize("name", NAMES)
def test_a_name_means_what_it_means_to_git(name: str, root: Path) -> None:
    assert shown(root, name) == git(root, "show", f"{name}:{FILE}")


def test_hashes_and_what_describe_says_are_names(root: Path) -> None:
    whole = git(root, "rev-parse", "HEAD~3").strip()
    for name in (whole, whole[:7], whole.upper(), whole[:12], f"{whole[:8]}^"):
        assert shown(root, name) == git(root, "show", f"{name}:{FILE}")
    described = git(root, "describe", "HEAD").strip()
    assert shown(root, described) == git(root, "show", f"HEAD:{FILE}")


@pytest.mark.parametrize("name", NO_NAMES)
def test_a_name_of_nothing_is_a_sentence(name: str, root: Path) -> None:
    refused(root, name)


def test_a_file_that_is_not_there_is_a_sentence(root: Path) -> None:
    assert "there is no 'sub/b.nn' in that revision" in refused(root, "HEAD", "sub/b.nn")
    assert "is a folder" in refused(root, "HEAD", "sub")
    assert "there is no" in refused(root, "HEAD", "sub/a.nn/b")
    assert "lies in no work tree" in refused(root.parent)
    inside = RevisionFiles("HEAD", str(root / FILE))
    assert inside.read(str(root.parent / "r2" / "a.nn")) is None


def test_a_linked_work_tree_has_a_head_of_its_own(root: Path) -> None:
    git(root, "worktree", "add", "--quiet", "--detach", "../linked", "HEAD~2")
    linked = root.parent / "linked"
    for name in ("HEAD", "main", "heavy", "feature/x"):
        assert shown(linked, name) == git(linked, "show", f"{name}:{FILE}")


def test_a_repository_with_sha_256(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256")
    (tmp_path / "a.nn").write_text("input A [1];\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    assert shown(tmp_path, "HEAD", "a.nn") == "input A [1];\n"
    assert shown(tmp_path, git(tmp_path, "rev-parse", "--short", "@").strip(), "a.nn")


def test_what_precedes_the_colon_is_a_revision_unless_it_is_a_drive(tmp_path: Path) -> None:
    assert split_revision("HEAD~2:a.nn") == ("HEAD~2", "a.nn")
    assert split_revision("@:a.nn") == ("@", "a.nn")
    assert split_revision("C:a.nn") == (None, "C:a.nn")
    assert split_revision("a.nn") == (None, "a.nn")


def test_no_object_is_replaced(root: Path) -> None:
    copy = shutil.copytree(root, root.parent / "replaced")
    now, other = (git(copy, "rev-parse", f"{each}:{FILE}").strip() for each in ("HEAD", "HEAD~4"))
    git(copy, "replace", now, other)
    assert shown(copy, "HEAD") == shown(root, "HEAD") != git(copy, "show", f"HEAD:{FILE}")


def test_objects_of_another_repository_are_not_taken(root: Path) -> None:
    borrowed = root.parent / "borrowed"
    git(root.parent, "clone", "--quiet", "--shared", str(root), str(borrowed))
    assert "lies in another repository" in refused(borrowed)


def test_nothing_is_fetched_into_a_partial_clone(root: Path) -> None:
    git(root, "config", "uploadpack.allowFilter", "true")
    clone, marker = root.parent / "partial", root.parent / "marker"
    options = ("--quiet", "--no-checkout", "--filter=blob:none")
    git(root.parent, "clone", *options, root.as_uri(), str(clone))
    git(clone, "config", "core.sshCommand", f"echo run > {marker}; false")
    git(clone, "config", "remote.origin.url", "ssh://nowhere.invalid/r")
    (clone / "sub").mkdir()
    asked = subprocess.run(["git", "show", f"HEAD:{FILE}"], cwd=clone, capture_output=True)
    assert asked.returncode
    assert marker.exists(), "git itself must fall for it, or nothing is shown here"
    marker.unlink()
    for words in (("describe", f"HEAD:{FILE}"), ("diff", f"HEAD~1:{FILE}", f"HEAD:{FILE}")):
        answer = netsharp(*words, cwd=clone)
        assert answer.code == 2
        assert "left out of this partial clone" in answer.err
        assert len(answer.err.splitlines()) == 1
    assert not marker.exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
@pytest.mark.parametrize("name", ["HEAD", "packed-refs", "loose", "pack", "refs/heads/main"])
def test_what_is_no_file_is_not_waited_for(name: str, root: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(root, tmp_path / "r")
    found = git(copy, "rev-parse", "HEAD").strip()
    folder = copy / ".git"
    place = {
        "loose": folder / "objects" / found[:2] / found[2:],
        "pack": folder / "objects" / "pack" / "pack-x.pack",
    }.get(name, folder / name)
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    refused(
        copy, "main" if name == "refs/heads/main" else found if name == "loose" else "light~1~9"
    )


def test_references_in_a_circle_and_out_of_the_folder(root: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(root, tmp_path / "r")
    heads = copy / ".git" / "refs" / "heads"
    (heads / "one").write_text("ref: refs/heads/two\n")
    (heads / "two").write_text("ref: refs/heads/one\n")
    (heads / "out").write_text("ref: ../../secret\n")
    (tmp_path / "secret").write_text(git(copy, "rev-parse", "HEAD"))
    for name in ("one", "out"):
        refused(copy, name)


def test_a_damaged_repository_is_a_sentence(root: Path, tmp_path: Path, seed: int) -> None:
    copy = shutil.copytree(root, tmp_path / "r")
    draw = random.Random(seed)
    print(f"seed {seed}")
    victims = [path for path in (copy / ".git" / "objects").rglob("*") if path.is_file()]
    for path in victims:
        path.chmod(0o644)
    refusals = 0
    for _ in range(150):
        path = draw.choice(victims)
        sound = path.read_bytes()
        damaged = bytearray(sound)
        for _ in range(draw.randint(1, 3)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        path.write_bytes(damaged[: draw.choice((len(damaged), draw.randrange(len(damaged))))])
        try:
            shown(copy, draw.choice(("HEAD", "HEAD~4", "heavy")))
        except NoGitError:
            refusals += 1
        path.write_bytes(sound)
    assert refusals > 10


@pytest.mark.parametrize("packed", [False, True])
def test_a_large_object_is_refused_before_it_is_unpacked(packed: bool, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "a.nn").write_bytes(bytes(GIT_OBJECT_BYTES.most + 1))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    if packed:
        git(tmp_path, "gc", "--quiet")
    (tmp_path / "a.nn").unlink()
    assert "64 MiB" in refused(tmp_path, "HEAD", "a.nn")
