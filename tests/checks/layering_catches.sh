#!/usr/bin/env bash
# Plants one violation of each rule in a copy of the tree and expects layering.sh to refuse it. TAP.
. "$MILLRACE_SOURCE/tests/support/tap.sh"

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# is_caught RULE FILE LINE: with LINE added to FILE, rule number RULE fails and names the place.
is_caught() {
  local rule=$1 file=$2 line=$3 report place
  rm -rf "$copy/tree"
  mkdir -p "$copy/tree"
  cp -r "$MILLRACE_SOURCE/src" "$MILLRACE_SOURCE/include" "$copy/tree/"
  chmod -R u+w "$copy/tree"
  mkdir -p "$copy/tree/$(dirname "$file")"
  echo "$line" >> "$copy/tree/$file"
  report=$(bash "$MILLRACE_SOURCE/tests/checks/layering.sh" "$copy/tree")
  # of a folder that is no room only the folder is named
  place=$file
  [ "$rule" = 1 ] && place=${file%/*}/
  grep -q "^not ok $rule " <<< "$report" && grep -q "^# $place" <<< "$report" && return
  echo "$report"
  return 1
}

catches() { ok "$2: $3" is_caught "$@"; }

echo "1..12"
catches 1 src/utils/help.c 'int nothing;'
catches 1 include/millrace/misc.h 'int nothing;'
catches 2 src/grid/planted.c '#include <millrace/fluid.h>'
catches 2 include/millrace/fluid.h '#  include <millrace/simulation.h>'
catches 2 src/io/planted.c '#include "millrace/grid.h"'
catches 3 src/fluid/planted.c '#include "grid_impl.h"'
catches 3 src/fluid/planted.c '#include <grid/grid_impl.h>'
catches 4 src/fluid/planted.c 'DMDACreate3d(comm);'
catches 5 src/simulation/planted.c 'H5Fopen(name);'
catches 6 src/scene/planted.c 'ParMETIS_V3_PartKway();'
catches 7 src/fluid/planted.c 'MPI_Comm_split(comm);'
catches 8 src/simulation/planted.c 'fy_document_destroy(document);'
