#!/usr/bin/env bash
# Scenes of inputs/ that stand for rows of table 3.1 of the thesis, and of the figures of its chapter 2: elements, substeps and processor
# time per frame of 1/24 s on one rank, beside the thesis's. Its machine was another, and its meshes are larger where a scene's first lines say so.
#
#   SCENE_FRAMES=12  frames of each
set -eu
MILLRACE_SOURCE=$(realpath "${MILLRACE_SOURCE:-.}")
MILLRACE_BUILD=$(realpath "${MILLRACE_BUILD:-.}")
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
frames=${SCENE_FRAMES:-12}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

row() { # SCENE THESIS'S-SECONDS THESIS'S-SUBSTEPS [OPTIONS]
  local TIMEFORMAT='%U %S' end
  end=$(awk "BEGIN {printf \"%.9g\", $frames / 24}")
  { time "$MILLRACE_BUILD/millrace" run "$MILLRACE_SOURCE/inputs/$1.yaml" -o run --overwrite --set run.end_time="$end" \
    --set run.frame_interval="$end" "${@:4}" > log 2> problems; } 2> used || { cat problems; exit 1; }
  awk -F, -v scene="$1" -v frames="$frames" -v used="$(cat used)" -v seconds="$2" -v theirs="$3" \
    -v elements="$(sed -n 's/.* \([0-9]*\) elements.*/\1/p' log | head -n 1)" '
    NR == 1 { for (k = 1; k <= NF; k++) if ($k == "substeps") column = k; next }
    $1 > 0 { sum += column ? $column : 1 }
    END {
      split(used, part, " "); mine = (part[1] + part[2]) / frames
      printf "%-28s %7s %9.1f %9.3f %9s %9s %9.0f\n", scene, elements, sum / frames, mine, theirs, seconds, seconds / mine
    }' run/ledger.csv
}

printf '%-28s %7s %9s %9s %9s %9s %9s\n' scene elements substeps s/frame thesis: s/frame ratio
row solids/twisting-chain 92.2 123
row solids/mixed-stack 10.0 35
row solids/row-of-spheres 35.3 94
row solids/deformable-bar 4.1 51
row solids/snake 1.8 38
row solids/friction-soft 6.4 2515
row solids/maggot 0.6 30
row solids/maggot-ring 7.7 100
row solids/fish 52.8 117
row solids/trampoline 14.5 32
row solids/maggot-bowl 19.1 30 --set let.columns=2
row solids/maggot-bowl-rings 62.2 59 --set let.columns=2
row solids/pile 2400 14 --set 'solids.assemblies.set.copies.count=[4,4,10]'
row hybrid/cloth-pinch 168 -
row hybrid/ribbon-point-cloud 2.3 -
row hybrid/stitched-spheres 30 -
row hybrid/stamp 3 -
row hybrid/adaptive-flesh 1080 -
