#!/usr/bin/env bash
# Cross compilers, emulators, a second host compiler and what builds packages from Debian's, where
# they are not there yet.
set -euo pipefail

# A program that is there once its package is, and the package.
wanted=(
  "arm-none-eabi-gcc gcc-arm-none-eabi"
  "riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf"
  "qemu-system-arm qemu-system-arm"
  "qemu-system-riscv32 qemu-system-misc"
  "clang clang"
  "cmake cmake"
)

has_sanitizers() {
  clang -fsanitize=address -x c - -o /dev/null <<<'int main(void) { return 0; }' 2>/dev/null
}

missing=()
for one in "${wanted[@]}"; do
  read -r program package <<<"$one"
  command -v "$program" >/dev/null || missing+=("$package")
done
if [ ${#missing[@]} = 0 ] && has_sanitizers; then
  exit 0
fi

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || {
    echo "Packages are missing (${missing[*]:-the sanitizers of clang}), and neither root nor sudo is" \
      "there to install them. The tests run without: they say what they left out." >&2
    exit 1
  }
  as_root=(sudo)
fi
install() {
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    "$@" >/dev/null
}
"${as_root[@]}" apt-get update -qq
[ ${#missing[@]} = 0 ] || install "${missing[@]}"
# A package of its own, named by the version of clang.
has_sanitizers || install "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
