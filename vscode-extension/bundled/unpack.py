"""Unpacks the wheels that fit this interpreter into one folder; needs no pip and no network.

Run as `python unpack.py WHEELS TARGET`.  Prints `DONE/ALL` in files as it goes; the folder
appears at once and whole, or not at all.
"""

import os
import shutil
import sys
import sysconfig
import tempfile
import zipfile

#: After how many files a line of progress is printed.
STEP = 40


def fits(name: str) -> bool:
    """Whether a wheel is for this interpreter; all those here are for its platform."""
    python, abi, _ = name.removesuffix(".whl").split("-")[-3:]
    own = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    if abi == "abi3":
        oldest = min(int(tag.removeprefix("cp3")) for tag in python.split("."))
        return sys.version_info[1] >= oldest
    return own in python.split(".") or (abi == "none" and "py3" in python.split("."))


def main() -> int:
    """Unpack beside the target and rename."""
    wheels, target = sys.argv[1:3]
    names = sorted(name for name in os.listdir(wheels) if name.endswith(".whl") and fits(name))
    if sysconfig.get_config_var("Py_GIL_DISABLED") or not names:
        print("No wheel here fits this Python.", file=sys.stderr)
        return 1
    storage = os.path.dirname(target)
    os.makedirs(storage, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="unpacking-", dir=storage) as beside:
        whole = os.path.join(beside, "whole")
        extract([os.path.join(wheels, name) for name in names], whole)
        try:
            os.rename(whole, target)
        except OSError:
            # Another window was faster.
            if not os.path.isdir(target):
                raise
    forget_older(storage, target)
    return 0


def extract(wheels: list[str], folder: str) -> None:
    """Unpack every wheel into one folder."""
    archives = [zipfile.ZipFile(wheel) for wheel in wheels]
    whole = sum(len(archive.namelist()) for archive in archives)
    done = 0
    for archive in archives:
        with archive:
            for member in archive.namelist():
                archive.extract(member, folder)
                done += 1
                if done % STEP == 0:
                    print(f"{done}/{whole}", flush=True)


def forget_older(storage: str, target: str) -> None:
    """Remove what earlier versions have left for this Python; what is in use may stay."""
    part, tag = os.path.basename(target).split("-", 1)[0], target.rpartition("-")[2]
    for name in os.listdir(storage):
        if name.startswith(f"{part}-") and name.endswith(f"-{tag}"):
            other = os.path.join(storage, name)
            if os.path.normcase(other) != os.path.normcase(target):
                shutil.rmtree(other, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
