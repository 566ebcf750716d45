"""A walk leaves out what git ignores, decided without git: on random trees, and on hostile ones."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from netsharp_lsp.project.git.ignored import without_ignored
from tests.costs import assert_in_proportion, within
from tests.integrations.checkout import git

#: The number of trees that FULL=1 compares, and the share of them in a test run.
ALL_TREES, SOME_TREES = 500, 25
NAMES = (
    *("a", "b", "ab", "abc", "foo", "bar", "foo.nn", "a.nn", "b.nn", "ab.nn", "dir", "lib"),
    *("lib.nn", "Foo", "foobar", "é"),
)
#: Names that some file systems do not take.
ODD_NAMES = () if os.name == "nt" else ("x y", "#h", "!x", "a[b", "a*b", " s", "t ", "\\")
PIECES = (
    *("a", "b", "ab", "foo", ".nn", "*", "*", "**", "?", "[ab]", "[!a]", "[a-f]", "[^f]", "dir"),
    *("[[:alpha:]]", "[]a]", "[a", "\\*", "\\ ", "\\#", "\\!", " ", "lib", "foo*", "*.nn", "*o*"),
    *(
        "**/",
        "/**",
        "[z-a]",
        "\\",
        "é",
        "[/]",
        "[a-]",
        "***",
        "foo**",
        "[[:foo:]]",
        "\\/",
        "[\\]a]",
    ),
    *("/",) * 6,
)


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person who ignores nothing."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"):
        monkeypatch.delenv(name, raising=False)


def ignored_by_git(root: Path, names: list[str]) -> set[str]:
    """What git's patterns ignore, without what git tracks."""
    given = "\0".join(names).encode()
    asked = ["git", "-C", str(root), "check-ignore", "--no-index", "-z", "--stdin"]
    done = subprocess.run(asked, input=given, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    listed = ["git", "-C", str(root), "ls-files", "-z"]
    tracked = subprocess.run(listed, capture_output=True, check=True).stdout
    return {name.decode() for name in {*done.stdout.split(b"\0")} - {*tracked.split(b"\0")} if name}


def ignored_by_us(root: Path, names: list[str]) -> set[str]:
    kept = set(without_ignored([str(root / name) for name in names]))
    return {name for name in names if str(root / name) not in kept}


def a_pattern(draw: random.Random) -> str:
    names = NAMES + ODD_NAMES
    kind = draw.random()
    if kind < 0.35:
        text = draw.choice(names)
    elif kind < 0.5:
        text = "/".join(draw.choice((*names, "*", "**", "?")) for _ in range(draw.randint(2, 3)))
    else:
        text = "".join(draw.choice(PIECES) for _ in range(draw.randint(1, 6)))
    for chance, form in ((0.25, "/{}"), (0.25, "{}/"), (0.3, "!{}"), (0.1, "{}  "), (0.05, "#{}")):
        if draw.random() < chance:
            text = form.format(text)
    return text


def patterns(draw: random.Random, most: int) -> bytes:
    end = draw.choice(("\n", "\n", "\r\n"))
    text = end.join(a_pattern(draw) for _ in range(draw.randint(1, most))) + draw.choice((end, ""))
    return (b"\xef\xbb\xbf" if draw.random() < 0.1 else b"") + text.encode()


def grow(draw: random.Random, folder: Path, depth: int = 0) -> list[Path]:
    """Fill a folder with folders, files and ignore files; the files."""
    files = []
    for name in draw.sample(NAMES + ODD_NAMES, draw.randint(2, 6)):
        if depth < 3 and draw.random() < 0.5:
            (folder / name).mkdir()
            files += grow(draw, folder / name, depth + 1)
        else:
            (folder / name).touch()
            files.append(folder / name)
    if draw.random() < (0.35 if depth else 1):
        (folder / ".gitignore").write_bytes(patterns(draw, 8))
    return files


def track(root: Path, names: list[str]) -> None:
    literal = os.environ | {"GIT_LITERAL_PATHSPECS": "1"}
    words = ["git", "add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"]
    given = "\0".join(names).encode()
    subprocess.run(words, cwd=root, input=given, env=literal, check=True, capture_output=True)


def test_random_trees_are_matched_as_git_matches_them(tmp_path: Path, seed: int) -> None:
    number = ALL_TREES if os.environ.get("FULL") else SOME_TREES
    print(f"seed {seed}, {number} trees")
    seen = 0
    for each in range(number):
        draw = random.Random(seed * 1000 + each)
        root = tmp_path / str(each)
        root.mkdir()
        git(root, "init", "--quiet")
        files = [str(path.relative_to(root)) for path in grow(draw, root)]
        if draw.random() < 0.4:
            (root / ".git" / "info" / "exclude").write_bytes(patterns(draw, 4))
        if draw.random() < 0.3:
            (tmp_path / "home" / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
            (tmp_path / "home" / "mine").write_bytes(patterns(draw, 3))
        else:
            (tmp_path / "home" / ".gitconfig").write_text("")
        track(root, [name for name in files if draw.random() < 0.15])
        wanted = ignored_by_git(root, files)
        assert ignored_by_us(root, files) == wanted, root
        seen += len(wanted)
    assert seen > 5 * number


def repository(root: Path, ignore: str = "*.nn\n") -> Path:
    """A work tree with a tracked file and another, both ignored by pattern."""
    root.mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    for name in ("kept.nn", "lost.nn", ".gitignore"):
        (root / name).write_text(ignore if name == ".gitignore" else "")
    git(root, "add", "--force", "kept.nn", ".gitignore")
    git(root, "commit", "--quiet", "--message", "first")
    return root


def lost(root: Path, *names: str) -> set[str]:
    return ignored_by_us(root, list(names or ("kept.nn", "lost.nn")))


def version_4(root: Path) -> None:
    git(root, "update-index", "--index-version", "4")


def split(root: Path) -> None:
    git(root, "update-index", "--split-index")
    (root / "later.nn").touch()
    git(root, "add", "--force", "later.nn")


def with_intent(root: Path) -> None:
    (root / "later.nn").touch()
    git(root, "add", "--force", "--intent-to-add", "later.nn")


@pytest.mark.parametrize("form", [version_4, split, with_intent])
def test_tracked_files_are_known_in_every_form_of_the_index(
    form: Callable[[Path], None], tmp_path: Path
) -> None:
    root = repository(tmp_path / "r")
    deep = "/".join(["a-folder-with-a-long-name"] * 8)
    (root / deep).mkdir(parents=True)
    names = [f"{deep}/{each}.nn" for each in ("one", "two")] + ["z.nn", "later.nn"]
    for name in names[:3]:
        (root / name).touch()
    git(root, "add", "--force", names[0], "z.nn")
    form(root)
    everything = ["kept.nn", "lost.nn", *names]
    assert lost(root, *everything) == ignored_by_git(root, everything)


def test_a_repository_with_sha_256(tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    git(root, "init", "--quiet", "--object-format=sha256")
    (root / ".gitignore").write_text("*.nn\n")
    (root / "kept.nn").touch()
    git(root, "add", "--force", "kept.nn")
    assert lost(root) == {"lost.nn"}


def test_linked_work_trees_and_submodules(tmp_path: Path) -> None:
    root = repository(tmp_path / "r")
    (root / ".git" / "info" / "exclude").write_text("*.bs\n")
    git(root, "worktree", "add", "--quiet", "../linked")
    linked = tmp_path / "linked"
    assert lost(linked, "kept.nn", "lost.nn", "a.bs", "a.mel") == {"lost.nn", "a.bs"}
    outer = repository(tmp_path / "outer", "*.mel\n")
    local = ("-c", "protocol.file.allow=always")
    git(outer, *local, "submodule", "--quiet", "add", str(root), "inner")
    assert (outer / "inner" / ".git").is_file()
    names = ["kept.nn", "inner/kept.nn", "inner/lost.nn", "inner/a.mel", "a.mel"]
    assert lost(outer, *names) == {"inner/lost.nn", "a.mel"}


def test_the_person_says_what_is_ignored_everywhere_and_the_folder_does_not(tmp_path: Path) -> None:
    root, home = repository(tmp_path / "r", ""), tmp_path / "home"
    (tmp_path / "theirs").write_text("*.nn\n")
    git(root, "config", "core.excludesFile", str(tmp_path / "theirs"))
    assert lost(root) == set()
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "ignore").write_text("lost.nn\n")
    assert lost(root) == {"lost.nn"}
    (home / ".config" / "git" / "config").write_text('[core]\nexcludesfile = "~/a b" # mine\n')
    (home / "a b").write_text("a.nn\n")
    assert lost(root, "lost.nn", "a.nn") == {"a.nn"}
    (home / ".gitconfig").write_text("[include]\n\tpath = more\n")
    (home / "more").write_text("[CORE]\n\tExcludesFile = ~/third\n")
    (home / "third").write_text("b.nn\n")
    assert lost(root, "lost.nn", "a.nn", "b.nn") == {"b.nn"}
    for damaged in ("[core", "[include]\npath = more\n[core\n", "\0" * 99 + "excludesfile"):
        (home / ".gitconfig").write_text(damaged)
        assert lost(root, "a.nn", "b.nn") == {"a.nn"}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_what_stands_for_an_ignore_file_is_neither_opened_nor_followed(tmp_path: Path) -> None:
    root = repository(tmp_path / "r")
    ignore = root / ".gitignore"
    ignore.unlink()
    os.mkfifo(ignore)
    assert lost(root) == set()
    ignore.unlink()
    (root / "patterns").write_text("*.nn\n")
    ignore.symlink_to("patterns")
    assert lost(root) == set() == ignored_by_git(root, ["kept.nn", "lost.nn"])
    ignore.unlink()
    ignore.symlink_to("/dev/zero")
    (root / ".git" / "info" / "exclude").unlink()
    (root / ".git" / "info" / "exclude").symlink_to("/dev/zero")
    assert lost(root) == set()
    ignore.unlink()
    ignore.write_text("*.nn")
    (root / ".git" / "index").unlink()
    os.mkfifo(root / ".git" / "index")
    assert lost(root) == {"kept.nn", "lost.nn"}


def test_a_damaged_index_tracks_nothing_or_what_is_left(tmp_path: Path, seed: int) -> None:
    root = repository(tmp_path / "r")
    index = root / ".git" / "index"
    sound = index.read_bytes()
    draw = random.Random(seed)
    print(f"seed {seed}")
    for _ in range(300):
        damaged = bytearray(sound)
        for _ in range(draw.randint(1, 4)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        index.write_bytes(damaged[: draw.choice((len(damaged), draw.randrange(len(damaged))))])
        assert lost(root) >= {"lost.nn"}


@pytest.mark.parametrize(
    "line", ["gitdir: .", "gitdir: ../loop", "gitdir: /dev", "gitdir: \0", "", "gitdir: x\n" * 99]
)
def test_a_link_to_no_repository_is_none(line: str, tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    (root / ".git").write_text(line)
    (root / ".gitignore").write_text("*.nn")
    assert lost(root) == set()


@pytest.mark.parametrize(
    "pattern",
    [
        "a*" * 60 + "b",
        "*a" * 220,
        "/" + "**/a*/" * 12 + "b",
        "*[ab]" * 100 + "c",
        "?*" * 100 + "[!a]",
        "a/" + "*/" * 8 + "**/" * 40 + "a*a*a*b",
        "*" * 3000 + "b",
    ],
)
def test_no_pattern_takes_for_ever(pattern: str, tmp_path: Path) -> None:
    root = repository(tmp_path / "r", "*.mel\n" + pattern + "\n")
    names = ["a" * 200, "/".join(["a" * 60] * 15), "/".join("a" * 60)]
    assert within(2, lambda: lost(root, *names)) == set()


def test_too_many_patterns_count_as_none(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", "\n".join(f"*{each}*.nn" for each in range(1990)) + "\nlo*\n")
    assert lost(root) == {"lost.nn"}
    more = "\n".join(f"*{each}*.nn" for each in range(2001)) + "\nlo*\n"
    (root / ".gitignore").write_text(more)
    assert lost(root) == set()
    (root / ".gitignore").write_text("".join(f"n{each}.nn\n" for each in range(50_000)))
    assert lost(root, "n7.nn", "x.nn") == {"n7.nn"}
    (root / ".gitignore").write_bytes(b"lost.nn\n" + b"#" * 2**20)
    assert lost(root) == set()


def test_the_time_grows_with_the_paths_and_no_faster(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", "*.pyc\nout*/\n/dist\n*7.nn\n!77.nn\ndocs/**/x\n" * 5)

    def prepared(number: int) -> Callable[[], object]:
        paths = [
            str(root / f"d{each % 10}" / f"e{each % 97}" / f"{each}.nn") for each in range(number)
        ]
        return lambda: without_ignored(paths)

    assert_in_proportion(prepared, 2_000, 8_000, slack=1.5)


def test_no_program_is_started(tmp_path: Path) -> None:
    root = repository(tmp_path / "r")
    program = (
        "import sys\n"
        "bad = ('subprocess', 'os.exec', 'os.posix_spawn', 'os.fork', 'os.system', 'socket')\n"
        "sys.addaudithook(lambda event, _: event.startswith(bad) and sys.exit(event))\n"
        "from netsharp_lsp.project.git.ignored import without_ignored\n"
        f"print(without_ignored([{str(root / 'kept.nn')!r}, {str(root / 'lost.nn')!r}]))\n"
        "print('urllib3' in sys.modules, 'dulwich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == [str([str(root / "kept.nn")]), "False False"], done.stderr
