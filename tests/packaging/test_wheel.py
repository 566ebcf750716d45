"""A wheel built from the sdist works in an empty environment outside the checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOT_COPIED = (".git", ".venv", "build", "dist", "*.egg-info", "*.so", "__pycache__", ".*_cache")
PACKAGE = ROOT / "netsharp_lsp"
#: Files that the package reads at run time, beside its modules.
READ = (
    *("cntk/rules/*/*.md", "netsharp/rules/*/*.md", "cntk/library/*.bs", "schemas/*.json"),
    *("cntk/configuration/options/*.md", "cntk/migration/rules/*.md"),
)
READ += ("cntk/library/documentation/*.md",)
EXPERIMENT = ROOT / "tests" / "editors" / "experiment"
NETWORK = "input Data auto;\nhidden H [200] from Data all;\noutput Out [10] sigmoid from H all;\n"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.costly(by_file=True),
    pytest.mark.skipif(find_spec("build") is None, reason="the module 'build' is not installed"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]


def read_files() -> list[Path]:
    """The files that `READ` names: all that are neither modules nor documents for developers."""
    named = [path for pattern in READ for path in PACKAGE.glob(pattern)]
    others = [
        path
        for path in PACKAGE.rglob("*.*")
        if path.suffix in {".md", ".bs", ".json"} and path.name != "ARCHITECTURE.md"
    ]
    assert set(others) == set(named)
    return named


def build(source: Path, kind: str, target: Path) -> Path:
    """Build ``kind`` (sdist or wheel) with the installed setuptools and return its file."""
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", target]
    done = subprocess.run([*command, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (result,) = target.glob("*.tar.gz" if kind == "sdist" else "*.whl")
    return result


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("sdist")
    shutil.copytree(ROOT, directory / "tree", ignore=shutil.ignore_patterns(*NOT_COPIED))
    return build(directory / "tree", "sdist", directory / "out")


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(directory, filter="data")
    (source,) = (path for path in directory.iterdir() if path.is_dir())
    return build(source, "wheel", directory / "out")


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment with the wheel and the parser's runtime, nothing else."""
    directory = tmp_path_factory.mktemp("environment")
    venv.create(directory, with_pip=True)
    python = directory / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    runtime = subprocess.run([*install, "tree-sitter>=0.25"], capture_output=True, check=False)
    if runtime.returncode:
        pytest.skip("no package index to install tree-sitter from")
    subprocess.run([*install, "--no-deps", wheel], check=True, capture_output=True)
    return python


def run(python: Path, directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-I", *arguments], cwd=directory, capture_output=True, text=True, check=False
    )


def test_the_sdist_holds_what_a_compiler_needs(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {str(path.relative_to(ROOT)) for path in (ROOT / "grammar").rglob("*.[ch]")}
    assert "grammar/cntk/src/tree_sitter/parser.h" in needed
    assert needed | {"setup.py", "LICENSE"} <= names
    assert not [name for name in names if name.endswith(".so")]


def test_the_wheel_serves_every_later_python(wheel: Path) -> None:
    assert wheel.name.split("-")[2:4] == ["cp311", "abi3"]
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for suffix in (".abi3.so", "highlights.scm"):
        assert [name for name in names if name.endswith(suffix)], suffix
    read = {f"netsharp_lsp/{path.relative_to(PACKAGE).as_posix()}" for path in read_files()}
    assert len(read) > 300
    assert read <= set(names)
    assert not [name for name in names if name.endswith((".c", ".h", ".js", ".sh"))]


@pytest.mark.parametrize("grammar", ["brainscript", "cntk", "netsharp"])
def test_a_query_of_the_package_loads(grammar: str, python: Path, tmp_path: Path) -> None:
    program = (
        "from importlib.resources import files\n"
        "from tree_sitter import Language, Query\n"
        f"from netsharp_grammar._{grammar} import language\n"
        f"queries = files('netsharp_grammar.{grammar}').joinpath('queries')\n"
        "text = queries.joinpath('highlights.scm').read_text()\n"
        "print(Query(Language(language()), text).pattern_count)\n"
    )
    done = run(python, tmp_path, "-c", program)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 10


def test_commands_run_outside_the_checkout(python: Path, tmp_path: Path) -> None:
    (tmp_path / "net.nn").write_text(NETWORK, encoding="utf-8")
    (tmp_path / "wrong.nn").write_text(NETWORK.replace("Data all", "Dta all"), encoding="utf-8")
    entry = ("-m", "netsharp_lsp")
    assert run(python, tmp_path, *entry, "--version").stdout.split()[0] == "netsharp"
    right = run(python, tmp_path, *entry, "check", "net.nn")
    assert right.returncode == 0, right.stdout + right.stderr
    wrong = run(python, tmp_path, *entry, "check", "wrong.nn")
    assert wrong.returncode == 1
    assert "NS035" in wrong.stdout
    assert run(python, tmp_path, *entry, "fmt", "--check", "net.nn").returncode in (0, 1)
    formatted = run(python, tmp_path, *entry, "fmt", "net.nn")
    assert formatted.returncode == 0, formatted.stdout + formatted.stderr
    assert run(python, tmp_path, *entry, "fmt", "--check", "net.nn").returncode == 0
    page = run(python, tmp_path, *entry, "explain", "NS074")
    assert page.returncode == 0
    assert "NS074" in page.stdout


def test_experiments_are_read_outside_the_checkout(python: Path, tmp_path: Path) -> None:
    folder = tmp_path / "experiment"
    shutil.copytree(EXPERIMENT, folder)
    entry = ("-m", "netsharp_lsp")
    checked = run(python, folder, *entry, "check", "digits.cntk")
    assert checked.returncode == 1
    assert "error[BS020]" in checked.stdout
    text = (folder / "digits.cntk").read_text().replace("hiden", "hidden")
    (folder / "digits.cntk").write_text(text)
    sound = run(python, folder, *entry, "check", ".")
    assert sound.returncode == 0, sound.stdout + sound.stderr
    # The library is a file of BrainScript in the package.
    described = run(python, folder, *entry, "describe", "digits.cntk")
    assert "79,510 parameters" in described.stdout, described.stderr
    assert "CK003" in run(python, folder, *entry, "explain", "CK003").stdout
    assert "--write" in run(python, folder, *entry, "migrate", "--help").stdout
    migrated = run(python, folder, *entry, "migrate", "--write", "old.config")
    assert migrated.returncode == 0, migrated.stdout + migrated.stderr
    assert "BrainScriptNetworkBuilder" in (folder / "old.config").read_text()
    assert run(python, folder, *entry, "fmt", "--check", "old.bs").returncode == 0
    assert "digits.cntk" in run(python, folder, *entry, "config", "--list", ".").stdout


def test_the_console_script_is_installed(python: Path, tmp_path: Path) -> None:
    script = python.with_name("netsharp")
    done = subprocess.run(
        [script, "--version"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("netsharp ")
