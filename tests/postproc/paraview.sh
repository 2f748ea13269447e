#!/usr/bin/env bash
# postproc/render: pictures and films by ParaView under Xvfb. Every picture starts ParaView anew: what others show already
# is drawn by `make check-long` only. TAP.
MILLRACE_SOURCE=$(realpath "${MILLRACE_SOURCE:-.}")
export MILLRACE_SOURCE
. "$MILLRACE_SOURCE/tests/support/tap.sh"

python=python3
"$python" -c 'import h5py, PIL' 2> /dev/null || python=/usr/bin/python3
"$python" -c 'import h5py, PIL' 2> /dev/null || skip_all "no h5py or PIL (Debian: python3-h5py python3-pil)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

render=$MILLRACE_SOURCE/postproc/render
measure() { "$python" "$MILLRACE_SOURCE/tests/postproc/measure.py" "$@"; }
is_long() { [ -n "${CHECK_LONG:-}" ]; }
refuses() { exits 2 "$@" -o refused.png && [ ! -e refused.png ]; }
for kind in plume vortex pool bubble; do
  "$python" "$MILLRACE_SOURCE/tests/support/synthetic_run.py" $kind $kind || exit 1
done

mkdir empty
ok "without ParaView, render refuses" env PATH="$work/empty" "$BASH" -c '
  "$1" "$2" plume -o refused.png; [ $? -eq 2 ] && [ ! -e refused.png ]' - "$(command -v "$python")" "$render"
for tool in pvbatch Xvfb; do
  command -v $tool > /dev/null || {
    skip "render" "$tool is missing (Debian: paraview python3-paraview xvfb)"
    plan
    exit
  }
done

ok "a field that is not there is refused" refuses "$render" plume --field nothing
if is_long; then
  ok "an iso-surface without a value is refused" refuses "$render" plume --iso smoke
  ok "a volume of a 2-D run is refused" refuses "$render" vortex --volume
  ok "a region that is not there is refused" refuses "$render" pool --regions honey
  ok "a camera that makes no sense is refused" refuses "$render" plume --camera sideways
  ok "a directory without a run is refused" refuses "$render" .
fi
ok "a name that is no picture is refused" exits 2 "$render" plume -o plume.txt

ok "render draws a 2-D run" "$render" vortex -o vortex.png --field vorticity_z --streamlines 20 --plain --size 300 300
ok "the picture has the size asked for" measure has_size vortex.png 300 300
ok "positive vorticity at the lower left is red, negative at the lower right blue" \
  measure is_redder vortex.png 0.2,0.18 0.8,0.18
ok "and at the upper left blue" measure is_redder vortex.png 0.2,0.18 0.2,0.82
ok "render draws regions in 2-D" "$render" bubble -o bubble.png --plain --size 300 300
ok "each in its colour" measure has_colour bubble.png 0.23,0.23=#2f7fc1 0.68,0.28=#f0932b 0.5,0.77=#d9e4ee
ok "the bubble up to its surface and not beyond" measure has_colour bubble.png 0.568,0.277=#f0932b 0.52,0.277=#2f7fc1
if is_long; then
  ok "a field, the lines between regions and markers" "$render" bubble -o lines.png --field pressure --particles --size 300 300
  ok "in 2-D the picture is as the box is" "$render" bubble -o frame.png --particles
  ok "with its margins" measure has_size frame.png 902 800
  ok "the water reaches from the left side and the ground up to the lines of its surface, its part of the bar is at the right" \
    measure fills frame.png \#2f7fc1 0.027 0.864 0.031 0.529
  ok "the bar and the legend are beside it" measure has_some frame.png 0.84,0.05,0.9,0.5=#2f7fc1 0.84,0.8,1,0.95=#f4a261
  ok "streamlines in space" "$render" plume -o lines.png --streamlines 30 --surfaces none --size 320 240
  ok "are seen before the ground" measure lines_are_pale lines.png 0.9
  ok "render draws surfaces of regions" "$render" pool -o pool.png --camera front --plain --size 400 400
  ok "the ball above the pool" measure is_redder pool.png 0.443,0.67 0.5,0.3
  ok "surfaces stay round at the sides" measure has_colour pool.png 0.483,0.777=#171c29 0.7,0.65=#171c29
  ok "one of them, with a slice of the pressure" "$render" pool -o slice.png --regions ball --slice z --field pressure \
    --size 200 200
fi
ok "render draws slice, iso-surface, streamlines, particles and surfaces" "$render" plume -o plume.png --slice y=0.9 \
  --iso smoke=0.5 --streamlines 20 --particles --surfaces --size 320 240
ok "something is seen" measure is_drawn plume.png 0.1
ok "with a legend for the surface and the points" measure has_some plume.png 0,0.1,0.4,0.2=#4cc9f0 0,0,0.4,0.1=#f4a261
if is_long; then
  ok "render makes a film of the smoke" "$render" plume -o plume.gif --volume --slice x --size 200 200
  ok "the film has all frames" measure has_frames plume.gif 3
  ok "render makes a series" "$render" plume -o series.png --all --iso velocity=0.4 --size 160 120
  ok "the series has a file per frame" [ "$(echo series-*)" = "series-000000.png series-000001.png series-000002.png" ]
fi

if [ -x "${MILLRACE_BUILD:-.}/millrace" ]; then
  "$MILLRACE_BUILD/millrace" run "$MILLRACE_SOURCE/inputs/flow/cavity.yaml" -o real --set grid.resolution=16 \
    --set run.end_time=1 > real.log 2>&1 || sed 's/^/# /' real.log
  ok "render draws a real cavity" "$render" real -o real.png --field velocity_x --range -1 1 --plain --size 300 300
  ok "the fluid follows the lid, which is at the top, and flows back below" measure is_redder real.png 0.5,0.93 0.5,0.65
  if is_long; then
    "$MILLRACE_BUILD/millrace" run "$MILLRACE_SOURCE/inputs/solids/stack.yaml" -o bodies --set run.end_time=0.05 > bodies.log 2>&1 ||
      sed 's/^/# /' bodies.log
    ok "render draws bodies alone and their contacts" "$render" bodies -o bodies.png --particles contacts --size 320 240
    ok "something is seen" measure is_drawn bodies.png 0.03
    ok "render colours bodies by their speed" "$render" bodies -o speed.png --field speed --all --size 160 120
    ok "a slice of bodies is refused" refuses "$render" bodies --slice x
    cat > rope.yaml << 'END'
run: {end_time: 0.01, frame_interval: 0.01}
solids:
  materials: [{name: hemp, model: springs, young: 1e6}]
  meshes: [{name: rope, type: rope, sheet: {along: [1, 0, 0.5]}, edge: 0.1, thickness: 0.02, material: hemp}]
END
    "$MILLRACE_BUILD/millrace" run rope.yaml -o rope > rope.log 2>&1 || sed 's/^/# /' rope.log
    ok "render draws a rope alone" "$render" rope -o rope.png --surfaces ropes --plain --size 320 240
    ok "something is seen" measure is_drawn rope.png 0.003
  fi
else
  skip "a real run" "there is no millrace"
fi
plan
