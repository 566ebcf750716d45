#!/usr/bin/env bash
# R and reticulate from Debian, for the package of `r/`, where they are not there yet.
set -euo pipefail

missing=()
command -v Rscript >/dev/null || missing+=(r-base-core)
Rscript -e 'quit(status = !requireNamespace("reticulate", quietly = TRUE))' >/dev/null 2>&1 \
  || missing+=(r-cran-reticulate)
[ ${#missing[@]} -gt 0 ] || exit 0
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
  "${missing[@]}" >/dev/null
