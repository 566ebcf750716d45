#!/usr/bin/env bash
# Check and measure the graphics device of this machine: with what lies beside in a folder that
# `make gpu-folder` made, or, in a checkout, with the packages of PYTHON and of such a folder.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if [ -d "$here/packages" ]; then
  folder=$here
  sources=$here
else
  root=$(cd "$here/../.." && pwd)
  folder=$root/out/gpu
  sources=$root/engine:$root/bench
fi
export PYTHONPATH="$sources"
"$python" -c 'import wgpu' 2>/dev/null || PYTHONPATH="$sources:$folder/packages:$folder/packages-$version"
# The loader of the machine goes first.
if ! "$python" -c 'import ctypes; ctypes.CDLL("libvulkan.so.1")' 2>/dev/null; then
  export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder/lib"
fi
# Containers that compute alone may have NVIDIA's library without the file that names it.
if [ -e /dev/nvidiactl ] && ! ls /usr/share/vulkan/icd.d/nvidia* /etc/vulkan/icd.d/nvidia* >/dev/null 2>&1; then
  named=$(mktemp --suffix=.json)
  trap 'rm -f "$named"' EXIT
  echo '{"file_format_version": "1.0.0", "ICD": {"library_path": "libGLX_nvidia.so.0", "api_version": "1.3.0"}}' >"$named"
  export VK_ADD_DRIVER_FILES="$named"
fi
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-${TMPDIR:-/tmp}}"
code=0
"$python" -m graphics "$@" || code=$?
exit "$code"
