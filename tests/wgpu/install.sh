#!/usr/bin/env bash
# Mesa's software driver for Vulkan and the loader from Debian's packages, where they are not there
# yet: the tests of graphics devices run on it.
set -euo pipefail

packages=(mesa-vulkan-drivers libvulkan1)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok' || missing+=("$package")
done
[ ${#missing[@]} = 0 ] && exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || {
    echo "Packages are missing (${missing[*]}), and neither root nor sudo is there to install them." \
      "The tests run without: they say what they left out." >&2
    exit 1
  }
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
  "${missing[@]}" >/dev/null
