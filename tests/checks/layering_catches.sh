#!/usr/bin/env bash
# Plants violations of each rule in a copy of the tree and expects layering.sh to refuse them all. TAP.
. "$MILLRACE_SOURCE/tests/support/tap.sh"

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# RULE|FILE|LINE: with LINE added to FILE, rule number RULE fails and names the place.
violations='1|src/utils/help.c|int nothing;
1|include/millrace/misc.h|int nothing;
2|src/grid/planted.c|#include <millrace/fluid.h>
2|include/millrace/fluid.h|#  include <millrace/simulation.h>
2|src/grid/planted_solver.c|#include <millrace/poisson.h>
2|src/io/planted.c|#include "millrace/grid.h"
3|src/fluid/planted.c|#include "grid_impl.h"
3|src/poisson/planted.c|#include "grid_impl.h"
3|src/fluid/planted_too.c|#include <grid/grid_impl.h>
4|src/fluid/planted_layout.c|DMDACreate3d(comm);
5|src/simulation/planted.c|H5Fopen(name);
6|src/scene/planted.c|ParMETIS_V3_PartKway();
7|src/fluid/planted_split.c|MPI_Comm_split(comm);
8|src/simulation/planted_document.c|fy_document_destroy(document);'

cp -r "$MILLRACE_SOURCE/src" "$MILLRACE_SOURCE/include" "$copy/"
chmod -R u+w "$copy"
while IFS='|' read -r rule file line; do
  mkdir -p "$copy/$(dirname "$file")"
  echo "$line" >> "$copy/$file"
done <<< "$violations"
report=$(bash "$MILLRACE_SOURCE/tests/checks/layering.sh" "$copy")

# What the report says of one rule.
said_of() { awk -v rule="$1" '/^(not )?ok / {now = $1 == "not" ? $3 : 0} now == rule' <<< "$report"; }

is_caught() { # RULE FILE
  local place=$2
  # of a folder that is no room only the folder is named
  [ "$1" = 1 ] && place=${2%/*}/
  said_of "$1" | grep -q "^# $place" && return
  echo "$report"
  return 1
}

while IFS='|' read -r rule file line; do
  ok "$file: $line" is_caught "$rule" "$file"
done <<< "$violations"
plan
