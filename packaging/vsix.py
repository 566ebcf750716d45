"""Packs the extension once per platform, each with the wheels that its server is made of.

Run as `python packaging/vsix.py WHEELS OUT [TARGET ...]` after `packaging/wheels.py`; asks the
package index for the wheels that bundled.txt pins, and keeps them in OUT/downloads for the next
time.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import bundle
from targets import PYTHONS, Target, chosen

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
EXTENSION = ROOT / "vscode-extension"
#: The contents of a package; .vscodeignore repeats them.
PARTS = (
    "package.json",
    "README.md",
    ".vscodeignore",
    "language-configuration.json",
    "language-configuration.cntk.json",
    "language-configuration.brainscript.json",
    "dist",
    "media",
    "syntaxes",
    "walkthrough",
    "bundled",
)
#: What only training needs: unpacked apart, so that the server does not wait for it.
TRAINING = ("numpy-", "safetensors-")
#: There is a wheel of these without machine code, too: one serves every Python.
PLAIN = ("dulwich==",)


def main() -> None:
    """Pack for the targets named on the command line, all where none is."""
    wheels, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for target in chosen(sys.argv[3:]):
        found = [own_wheel(wheels, target), *download(target, out / "downloads" / target.name)]
        print(pack(target, found, out))


def own_wheel(wheels: Path, target: Target) -> Path:
    """Our wheel for a target; SystemExit where it has not been built."""
    found = sorted(wheels.glob(f"netsharp-*-{target.wheel}.whl"))
    if not found:
        raise SystemExit(f"{wheels} holds no wheel for {target.name}: run 'make wheels' first.")
    return found[-1]


def download(target: Target, folder: Path) -> list[Path]:
    """Return the third-party wheels for every Python, each once; fetched only when pins change."""
    pins = HERE / "bundled.txt"
    state = hashlib.sha256(pins.read_bytes() + repr((target, PYTHONS)).encode()).hexdigest()
    stamp = folder / "stamp"
    if not stamp.is_file() or stamp.read_text() != state:
        shutil.rmtree(folder, ignore_errors=True)
        wanted = [line for line in pins.read_text().splitlines() if not line.startswith("#")]
        plain = [pin for pin in wanted if pin.startswith(PLAIN)]
        compiled = [pin for pin in wanted if pin not in plain]
        fetch(plain, folder, "--implementation", "py", "--abi", "none", "--platform", "any")
        for version in PYTHONS:
            options = ["--implementation", "cp", "--python-version", version]
            options += [word for name in target.platforms for word in ("--platform", name)]
            fetch(compiled, folder, *options)
        stamp.write_text(state)
    return sorted(folder.glob("*.whl"))


def fetch(pins: list[str], folder: Path, *options: str) -> None:
    """Have pip fetch wheels of these versions that fit its options."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    subprocess.run(
        [*command, "--only-binary=:all:", *options, *pins, "-d", str(folder)], check=True
    )


def pack(target: Target, wheels: list[Path], out: Path) -> Path:
    """Pack the built extension with some wheels, in a folder of its own."""
    manifest = json.loads((EXTENSION / "package.json").read_text())
    package = out / f"netsharp-{target.name}-{manifest['version']}.vsix"
    with tempfile.TemporaryDirectory() as temporary:
        stage = Path(temporary)
        copy_parts(stage)
        training = [wheel for wheel in wheels if wheel.name.startswith(TRAINING)]
        server = [wheel for wheel in wheels if wheel not in training]
        sizes = {
            part: bundle.make(found, stage / "bundled" / f"{part}.tar.br")
            for part, found in (("server", server), ("training", training))
        }
        described = description(target, wheels, manifest["version"], sizes)
        (stage / "bundled" / "bundle.json").write_text(json.dumps(described, indent=2) + "\n")
        vsce = EXTENSION / "node_modules" / ".bin" / "vsce"
        options = ["--no-dependencies", "--allow-missing-repository", "--target", target.name]
        command = [str(vsce), "package", *options, "-o", str(package.resolve())]
        done = subprocess.run(command, cwd=stage, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"vsce could not pack {target.name}:\n{done.stdout}{done.stderr}")
    return package


def copy_parts(stage: Path) -> None:
    """Copy the files to pack, without remains of earlier packing or tests."""
    for part in PARTS:
        source = EXTENSION / part
        if source.is_dir():
            ignored = shutil.ignore_patterns("*.tar.br", "bundle.json", "__pycache__")
            shutil.copytree(source, stage / part, ignore=ignored)
        else:
            shutil.copy(source, stage / part)
    shutil.copy(ROOT / "LICENSE", stage / "LICENSE")
    # Its own scripts would build again, without sources.
    manifest = json.loads((stage / "package.json").read_text())
    for key in ("scripts", "devDependencies"):
        manifest.pop(key, None)
    (stage / "package.json").write_text(json.dumps(manifest, indent=2) + "\n")


def description(
    target: Target, wheels: list[Path], version: str, sizes: dict[str, int]
) -> dict[str, object]:
    """Return what the extension has to know of the archives; `id` changes when any wheel does."""
    digest = hashlib.sha256()
    for wheel in sorted(wheels, key=lambda each: each.name):
        digest.update(wheel.name.encode())
        digest.update(wheel.read_bytes())
    return {
        "id": f"{version}-{digest.hexdigest()[:10]}",
        "platform": target.interpreter,
        "pythons": list(PYTHONS),
        "sizes": sizes,
    }


if __name__ == "__main__":
    main()
