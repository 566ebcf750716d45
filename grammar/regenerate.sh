#!/bin/sh
# Regenerates every parser from its grammar.js and fails if the files at hand differ.
# Needs the `tree-sitter` command on PATH or in ../shared/bin; no JavaScript runtime.
set -eu
cd "$(dirname "$0")"
PATH="$PATH:$(cd .. && pwd)/../shared/bin"
if ! command -v tree-sitter >/dev/null; then
    echo "grammar: 'tree-sitter' is not on PATH; install its command line tool, version 0.26" >&2
    exit 2
fi
status=0
for grammar in */grammar.js; do
    directory=$(dirname "$grammar")
    before=$(cat "$directory"/src/*.c "$directory"/src/*.json | cksum)
    (cd "$directory" && tree-sitter generate --js-runtime native)
    after=$(cat "$directory"/src/*.c "$directory"/src/*.json | cksum)
    if [ "$before" = "$after" ]; then
        echo "grammar: $directory/src is what $grammar generates"
    else
        echo "grammar: $directory/src differed from what $grammar generates; commit the new files" >&2
        status=1
    fi
done
exit $status
