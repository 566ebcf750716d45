#!/usr/bin/env bash
# `R CMD check --no-manual` of the package of `r/`: no error, no warning, and no test left out.
# Usage: check.sh PYTHON FOLDER
set -euo pipefail
python=$(realpath -s "${1:?Python with the package netsharp}")
folder=${2:?folder for the package and the log of its check}
package=$PWD/r

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
R CMD build --no-manual "$package"
RETICULATE_PYTHON=$python R CMD check --no-manual netsharp_*.tar.gz
if grep -E '^Status:.*(ERROR|WARNING)' netsharp.Rcheck/00check.log; then
  exit 1
fi
if grep -r --include='*.Rout' '^SKIPPED' netsharp.Rcheck/tests; then
  exit 1
fi
