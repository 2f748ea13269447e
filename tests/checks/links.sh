#!/usr/bin/env bash
# Every link from one file of the documentation to another leads somewhere. TAP.
. "$(dirname "$0")/../support/tap.sh"
cd "${1:-${MILLRACE_SOURCE:-.}}" || exit 1

# broken FILE: the targets of its links that do not exist; addresses elsewhere and anchors are not looked at.
broken() {
  local target
  grep -oE '\]\([^)#: ]+' "$1" | sed 's/^](//' | while read -r target; do
    [ -e "$(dirname "$1")/$target" ] || echo "$1: $target"
  done
}

pages=$(ls ./*.md docs/*.md)
echo "1..$(wc -w <<< "$pages")"
for page in $pages; do
  ok "$page" silent broken "$page"
done
