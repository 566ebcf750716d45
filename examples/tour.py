"""The tour of `make run`: checks, formats, describes, trains and applies the digits example.

Each command is printed before it runs; what it writes goes to out/ in the checkout.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out"
SPECIFICATION = "examples/digits/digits.nn"
MODEL = "out/digits.safetensors"
DATA = "examples/digits/digits.csv.gz"

STEPS = (
    ("Is anything wrong with the network?", f"check {SPECIFICATION}"),
    ("Is it in order?", f"fmt --check {SPECIFICATION}"),
    ("What is it?", f"describe {SPECIFICATION}"),
    ("A picture of it", f"describe --format svg --output out/digits.svg {SPECIFICATION}"),
    (
        "Train it; a stratified quarter of the digits is held out",
        f"run {SPECIFICATION} --model {MODEL} --log out/run.jsonl --plot out/loss.svg",
    ),
    (
        "Apply it",
        f"predict {MODEL} --data {DATA} --rows 1000 --keep digit --output out/answers.csv",
    ),
    (
        "Measure it on all digits, those it was trained on included",
        f"evaluate {MODEL} --data {DATA}",
    ),
    (
        "The guide's own network, on the same digits enlarged to 29 x 29",
        f"describe {SPECIFICATION.replace('digits', 'digits29')}",
    ),
)


def netsharp() -> str:
    """Return the installed command: beside this Python, else on the path."""
    beside = Path(sys.executable).with_name("netsharp")
    found = str(beside) if beside.exists() else shutil.which("netsharp")
    if found is None:
        sys.exit("netsharp is not installed: run `make run`, or `pip install .` first.")
    return found


def main() -> None:
    """Run every step; stop with the code of the first that fails."""
    OUT.mkdir(exist_ok=True)
    command = netsharp()
    for title, step in STEPS:
        print(f"\n# {title}\n$ netsharp {step}", flush=True)
        done = subprocess.run([command, *shlex.split(step)], cwd=ROOT, check=False)
        if done.returncode:
            sys.exit(done.returncode)
    print("\n# Train the guide's network\n$ python examples/digits29/train.py", flush=True)
    script = ROOT / "examples" / "digits29" / "train.py"
    subprocess.run([sys.executable, str(script)], cwd=ROOT, check=True)
    answers = (OUT / "answers.csv").read_text().splitlines()
    print("\n# The first answers, in out/answers.csv")
    for line in answers[:4]:
        print(",".join(line.split(",")[:2]))


if __name__ == "__main__":
    main()
