#!/usr/bin/env bash
# Who may include whom, and who may call which library (docs/architecture.md). TAP.
# layering.sh [TREE]: checks TREE, or the tree that is being built.
. "$(dirname "$0")/../support/tap.sh"
cd "${1:-${MILLRACE_SOURCE:-.}}" || exit 1

# The table: a room, and the rooms it may include. A new room is a new line.
declare -A below=(
  [base]=""
  [parallel]="base"
  [geometry]="base"
  [mesh]="base geometry"
  [io]="base parallel"
  [grid]="base parallel io"
  [poisson]="base parallel io grid"
  [visibility]="base parallel io grid"
  [particles]="base parallel io grid visibility"
  [levelset]="base parallel io grid visibility particles"
  [fluid]="base parallel io grid poisson visibility"
  [solid]="base parallel io geometry mesh"
  [phase]="base parallel io geometry grid visibility particles levelset"
  [coupling]="base parallel io geometry mesh grid poisson visibility fluid solid"
)
under_level_4="base parallel geometry mesh io grid poisson visibility particles levelset fluid solid"
for room in splash points eol reduced; do
  below[$room]=$under_level_4
done
below[simulation]="$under_level_4 phase coupling splash points eol reduced"
below[scene]="${below[simulation]} simulation"
below[umbrella]="${below[scene]} scene" # millrace.h
below[commands]=${below[umbrella]} # of the program, not of the library

# The room of each public header, from the lists <room>_headers of src/Makefile.am.
declare -A room_of_header
while read -r room header; do
  room_of_header[$header]=$room
done < <(sed -nE 's/^([a-z_]+)_headers *\+?= */\1 /p' src/Makefile.am | while read -r room headers; do
  for header in $headers; do
    echo "$room ${header##*/}"
  done
done)

# The room of a file; main.c calls the commands.
room_of() {
  local path=${1#src/}
  path=${path#include/millrace/}
  case $path in
  main.c) echo commands ;;
  */*) echo "${path%%/*}" ;;
  version.h) echo base ;; # generated
  *.h) echo "${room_of_header[$path]-none}" ;;
  esac
}

sources() { find src include -name '*.[ch]' | sort; }

unknown_rooms() {
  local path
  for path in src/*/ include/millrace/*.h; do
    [ -n "${below[$(room_of "$path")]+known}" ] || echo "$path: of no room in the table of layering.sh"
  done
  find include -name '*.h' ! -path 'include/millrace/*'
}

upward_includes() {
  local file room line target
  while read -r file; do
    room=$(room_of "$file")
    [ -n "$room" ] || continue
    while IFS=: read -r line target; do
      case " $room ${below[$room]} " in
      *" $(room_of "$target.h") "*) ;;
      *) echo "$file:$line: $room may not include $target" ;;
      esac
    done < <(sed -nE 's/^[ \t]*#[ \t]*include[ \t]*[<"]millrace\/([a-z_]+)\.h[>"].*/\1/; t show; b; :show; =; p' "$file" |
      paste -d: - -)
  done < <(sources)
}

# An include in quotes names a file of the room itself, and nothing private comes in through < >.
foreign_private_headers() {
  local file room line target
  while read -r file; do
    room=$(room_of "$file")
    while IFS=: read -r line target; do
      [ -n "$room" ] && [ -n "$(find "src/$room" -path "*/${target##*../}" 2> /dev/null)" ] && [ "${file#src/}" != "$file" ] ||
        echo "$file:$line: \"$target\" is not a header of its own room"
    done < <(sed -nE 's/^[ \t]*#[ \t]*include[ \t]*"([^"]+)".*/\1/; t show; b; :show; =; p' "$file" | paste -d: - -)
    grep -nHE '#[ \t]*include[ \t]*<.*_impl\.h>' "$file"
  done < <(sources)
}

# calls_outside ROOM REGEX: uses of a library away from its landlord.
calls_outside() {
  sources | grep -v "^src/$1/" | xargs grep -nHE "$2"
}

echo "1..8"
ok "every folder and public header is a room of the table" silent unknown_rooms
ok "rooms include downwards only" silent upward_includes
ok "private headers stay in their room" silent foreign_private_headers
ok "grid alone creates and lays out DMDAs" silent calls_outside grid '\bDMDA(Create|Set)[A-Za-z0-9]*[ ]*\('
ok "io alone calls HDF5" silent calls_outside io '\bH5[A-Z]+[a-z][A-Za-z0-9_]*[ ]*\(|<hdf5\.h>|petscviewerhdf5|PetscViewerHDF5'
ok "parallel alone calls ParMETIS" silent calls_outside parallel '\b(ParMETIS|METIS)_[A-Za-z0-9_]+[ ]*\(|<(par)?metis\.h>'
ok "parallel alone splits communicators" silent calls_outside parallel '\bMPI_Comm_(split|split_type|create|create_group)[ ]*\('
ok "scene alone reads YAML" silent calls_outside scene '\bfy_[a-z_]+[ ]*\(|<libfyaml\.h>'
