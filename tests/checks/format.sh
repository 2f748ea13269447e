#!/usr/bin/env bash
# The look of the sources: clang-format 14 and the lengths of CONTRIBUTING.md. TAP.
# format.sh [TREE]: checks TREE, or the tree that is being built.
. "$(dirname "$0")/../support/tap.sh"
cd "${1:-${MILLRACE_SOURCE:-.}}" || exit 1

sources() { find src include tests -name '*.[ch]' | sort; }

unformatted() {
  sources | xargs clang-format --dry-run --Werror 2>&1 | sed -n 's/\(:[0-9]*\):[0-9]*: error: .*/\1: not as clang-format writes it/p'
}

# A function opens with a brace in the first column and ends with one.
long_functions() {
  sources | xargs awk '
    FNR == 1 {start = 0}
    /^[A-Za-z].*\)[ \t]*$/ {name = $0}
    /^\{/ {start = FNR}
    /^\}/ {if (start && FNR - start > 80) print FILENAME ":" start ": " FNR - start " lines: " name; start = 0}'
}

long_lines() { sources | xargs awk 'length > 120 {print FILENAME ":" FNR ": " length " characters"}'; }

unfinished() { sources | xargs grep -nHE '\b(TO[D]O|FIX[M]E|XX[X]|HAC[K])\b'; }

echo "1..4"
if clang-format --version 2> /dev/null | grep -q 'version 14\.'; then
  ok "sources are as clang-format 14 writes them" silent unformatted
else
  skip "sources are as clang-format 14 writes them" "clang-format 14 is missing (Debian: clang-format)"
fi
ok "no function over 80 lines" silent long_functions
ok "no line over 120 characters" silent long_lines
ok "nothing is marked as unfinished" silent unfinished
