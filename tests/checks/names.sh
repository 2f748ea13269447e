#!/usr/bin/env bash
# Names: a type has one meaning in the whole tree, and words that were replaced by those of docs/glossary.md
# stay away. TAP.
# names.sh [TREE]: checks TREE, or the tree that is being built.
. "$(dirname "$0")/../support/tap.sh"
cd "${1:-${MILLRACE_SOURCE:-.}}" || exit 1

# Structs and enumerations that are defined, with their file.
definitions() {
  find src include -name '*.[ch]' | sort | xargs awk '
    match($0, /^}[ \t]*[A-Za-z_]+;/) {name = $0; gsub(/[} \t;]/, "", name); print name, FILENAME}
    match($0, /^typedef (struct|enum|union) *{.*} *[A-Za-z_]+;/) {name = $0; sub(/.*} */, "", name); sub(/;.*/, "", name); print name, FILENAME}
    match($0, /^(struct|enum|union) [A-Za-z_]+ *{/) {print $2, FILENAME}'
}

twice() {
  definitions | sort | awk '$1 == name {print name ": " file " and " $2} {name = $1; file = $2}'
}

retired='AddRubbing|ListRubbing|DistanceFillGhosts|Brush|Outlook|Sighting|Viewer|Flock|territory|Rubbing|diversion|glides|keep_calm|put_off|brought_before'
retired+='|SimulationAttend|had_better_share|BodyResistance|MergedRows|FluidSwapHeavy|HeavyVelocity|FluidGetHeavyVelocity'
retired+='|PhaseExtendHeavyVelocity|contrast|HearFluid|SimulationHearFluid|SimulationHearSolids|grid_face_end|FaceRange|CellRange'
retired+='|blame|blamed'
retired+='|is_sealed|sealed_count|sealed_components|MeasureSealed|LowerSealed|BalanceSealed|RaiseSealed'
retired+='|BodyShare|AddShare|SortShares|LookAtShares|wall_share|share_count|find_shares|line_share'
retired+='|SolidShare|HaloShare|ContactSetShare|PointsShareHistory'
retired+='|WallList|FluidGetWalls|FluidDropWalls'
old_words() { find src include docs -name '*.[chm]*' | sort | xargs grep -nHwE "$retired"; }

# One meaning in all rooms that have such a file: a part of any room, or one subject as several rooms see it.
shared=' check keys state time_step'
shared+=' body_surfaces constrained_faces markers mixture motion move obstacles output regions run seed shape shell_transport'
shared+=' sides solids splash weno '
files_twice() {
  find src -name '*.[ch]' | sort | awk -v shared="$shared" '
    {file = $0; sub(/.*\//, "", file); name = file; sub(/\..*/, "", name)}
    file in place && !index(shared, " " name " ") {print file ": " place[file] " and " $0}
    {place[file] = $0}'
}

# What is not listed is not in a release.
unlisted() {
  find src include -name '*.[ch]' | sort | while read -r file; do
    grep -qE "(^|[[:space:]])$file([[:space:]]|\$)" src/Makefile.am || echo "$file is not in src/Makefile.am"
  done
}

echo "1..4"
ok "no type is defined twice" silent twice
ok "no retired word is left" silent old_words
ok "a file name in two rooms is one of those with one meaning" silent files_twice
ok "every source and header is listed in src/Makefile.am" silent unlisted
