#!/usr/bin/env bash
# R and reticulate from Debian, for the package of `r/`, where they are not there yet. It fails where
# R cannot load reticulate in the end: the tests would be skipped.
set -euo pipefail

has_reticulate() {
  Rscript -e 'quit(status = !requireNamespace("reticulate", quietly = TRUE))' >/dev/null 2>&1
}

missing=()
command -v Rscript >/dev/null || missing+=(r-base-core)
has_reticulate || missing+=(r-cran-reticulate)
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
fi
has_reticulate || {
  echo "R is there and cannot load its package reticulate: Rscript -e 'library(reticulate)' says why." >&2
  exit 1
}
