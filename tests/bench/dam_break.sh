#!/usr/bin/env bash
# A 3-D dam break by Millrace and by OpenFOAM's interFoam, one after the other, each one process: time per cell and step, the
# water's front along the floor and its volume. Without interFoam (Debian: openfoam), Millrace alone.
#
#   DAM_CELLS="48 96"  cells along an edge     DAM_STEPS="100 25"  steps for each of them     DAM_KEEP=DIR  keeps the runs there
set -eu
MILLRACE_SOURCE=$(realpath "${MILLRACE_SOURCE:-.}")
MILLRACE_BUILD=$(realpath "${MILLRACE_BUILD:-.}")
export MILLRACE_SOURCE OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
here=$MILLRACE_SOURCE/tests/bench
read -ra sizes <<< "${DAM_CELLS:-48 96}"
read -ra counts <<< "${DAM_STEPS:-100 25}"

python=/usr/bin/python3
[ -x "$python" ] || python=python3
"$python" -c 'import h5py' || { echo "dam_break.sh needs h5py (Debian: python3-h5py)" >&2; exit 1; }
if [ -n "${DAM_KEEP:-}" ]; then
  mkdir -p "$DAM_KEEP" && work=$(realpath "$DAM_KEEP")
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi

# Debian's package has no variables of its own in the environment; where OpenFOAM's bashrc was sourced, they are there.
export WM_PROJECT_DIR=${WM_PROJECT_DIR:-/usr/share/openfoam}
missing=
for tool in blockMesh setFields interFoam; do
  command -v $tool > /dev/null || missing+=" $tool"
done
[ -z "$missing" ] || echo "interFoam is not installed (no$missing; Debian: openfoam): Millrace alone"

# timed FILE COMMAND...: wall clock and processor time of the command, in s, into the file.
timed() {
  local TIMEFORMAT='%R %U %S' file=$1
  shift
  { time "$@" 2>&3; } 3>&2 2> "$file"
}

run_millrace() { # CELLS STEPS
  local end
  end=$("$python" -c "print($2 * 0.002)")
  timed millrace.time "$MILLRACE_BUILD/millrace" run "$here/dam-break-3d.yaml" -o millrace --overwrite \
    --set grid.resolution="$1" --set run.end_time="$end" --set run.frame_interval="$end" > millrace.log ||
    { tail -n 20 millrace.log; exit 1; }
}

# Writes `settings`: sizes in cells, and the water's surface x = 0.4 as whole cells and a share of the next.
run_interfoam() { # CELLS STEPS
  rm -rf interfoam && cp -r "$here/interfoam" interfoam && chmod -R u+w interfoam
  "$python" - "$1" "$2" > interfoam/settings << 'settings'
import sys
cells, steps = int(sys.argv[1]), int(sys.argv[2])
whole = int(0.4 * cells + 1e-9)
print(f"cells {cells};\nend {steps * 0.002:.6g};\nwet {whole / cells!r};\ncut {(whole + 1) / cells!r};")
print(f"share {0.4 * cells - whole:.12g};")
settings
  (cd interfoam && blockMesh && setFields) > interfoam.prepare 2>&1 || { tail -n 20 interfoam.prepare; exit 1; }
  (cd interfoam && timed ../interfoam.time interFoam 2>&1) |
    while IFS= read -r line; do printf '%s %s\n' "$EPOCHREALTIME" "$line"; done > interfoam.log
  grep -q '^[0-9.]* End$' interfoam.log || { tail -n 20 interfoam.log; exit 1; }
}

for number in "${!sizes[@]}"; do
  cells=${sizes[number]} steps=${counts[number]:-25}
  mkdir -p "$work/$cells" && cd "$work/$cells"
  run_millrace "$cells" "$steps"
  [ -n "$missing" ] || run_interfoam "$cells" "$steps"
  "$python" "$here/dam_break.py" "$cells" "$steps" ${missing:+alone}
done
