#!/usr/bin/env bash
# Every link from one file of the documentation to another leads somewhere. TAP.
cd "${1:-${MILLRACE_SOURCE:-.}}" || exit 1

# broken FILE: the targets of its links that do not exist; addresses elsewhere and anchors are not looked at.
broken() {
  local target
  grep -oE '\]\([^)#: ]+' "$1" | sed 's/^](//' | while read -r target; do
    [ -e "$(dirname "$1")/$target" ] || echo "# $1: $target"
  done
}

pages=$(ls ./*.md docs/*.md)
echo "1..$(wc -w <<< "$pages")"
number=0
for page in $pages; do
  number=$((number + 1))
  missing=$(broken "$page")
  if [ -z "$missing" ]; then
    echo "ok $number - $page"
  else
    echo "not ok $number - $page"
    echo "$missing"
  fi
done
