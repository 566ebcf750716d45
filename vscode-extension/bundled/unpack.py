"""Unpacks what fits this interpreter from an archive into one folder; needs no pip and no network.

Run as `python unpack.py TARGET`, with the archive as its input: a tar whose folders are called by
the Pythons that they serve.  The target appears at once and whole, or not at all.
"""

import os
import shutil
import sys
import sysconfig
import tarfile
import tempfile

#: The folder of what serves every Python.
SHARED = "any"


def main() -> int:
    """Unpack beside the target and rename."""
    (target,) = sys.argv[1:]
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        print("Nothing here fits a free-threaded Python.", file=sys.stderr)
        return 1
    storage = os.path.dirname(target)
    os.makedirs(storage, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="unpacking-", dir=storage) as beside:
        whole = os.path.join(beside, "whole")
        if not extract(f"cp{sys.version_info[0]}{sys.version_info[1]}", whole):
            print("Nothing here fits this Python.", file=sys.stderr)
            return 1
        try:
            os.rename(whole, target)
        except OSError:
            # Another window was faster.
            if not os.path.isdir(target):
                raise
    forget_older(storage, target)
    return 0


def extract(tag: str, folder: str) -> bool:
    """Unpack what all Pythons share and what is this one's; False where nothing is."""
    found = False
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as archive:
        for member in archive:
            python, _, name = member.name.partition("/")
            content = archive.extractfile(member)
            if content is None or python not in (SHARED, tag):
                continue
            found = found or python == tag
            path = os.path.join(folder, *name.split("/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                shutil.copyfileobj(content, file)
    return found


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
