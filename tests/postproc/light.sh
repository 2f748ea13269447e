#!/usr/bin/env bash
# postproc's reader, picture and plot, with h5py and matplotlib alone, on synthetic runs and a real one. TAP.
MILLRACE_SOURCE=$(realpath "${MILLRACE_SOURCE:-.}")
export MILLRACE_SOURCE
. "$MILLRACE_SOURCE/tests/support/tap.sh"

python=python3
"$python" -c 'import h5py, matplotlib, PIL' 2> /dev/null || python=/usr/bin/python3
"$python" -c 'import h5py, matplotlib, PIL' 2> /dev/null ||
  skip_all "no h5py, matplotlib or PIL (Debian: python3-h5py python3-matplotlib python3-pil)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export MPLCONFIGDIR=$work

picture=$MILLRACE_SOURCE/postproc/picture
plot=$MILLRACE_SOURCE/postproc/plot
# One interpreter answers all questions.
coproc answers { "$python" "$MILLRACE_SOURCE/tests/postproc/measure.py"; }
exec 8>&"${answers[1]}" 9<&"${answers[0]}"
measure() { # QUESTION ARGUMENT...
  local seen
  (IFS=$'\t' && echo "$*") >&8 && read -r seen <&9 && [ "$seen" = yes ] || {
    echo "${seen:-no answer}"
    return 1
  }
}
# Most pictures too: a new one needs a second to load matplotlib.
draw() { measure ends_with 0 "$@"; }
refuses() { measure ends_with 2 "$@" -o refused.png && [ ! -e refused.png ]; }
refuses_alone() { exits 2 "$@" -o refused.png && [ ! -e refused.png ]; }
for kind in plume vortex pool bubble; do
  "$python" "$MILLRACE_SOURCE/tests/support/synthetic_run.py" $kind $kind || exit 1
done

ok "a linear field is sampled exactly, and nothing outside the box" measure linear_field_is_sampled_exactly plume
ok "vortices turn the right way and decay" measure vortex_turns_and_decays vortex
ok "the last line of a ledger counts only when it is whole" measure ledger_has_whole_rows plume 41
ok "up is against gravity" measure up_is_against_gravity plume 2
ok "arithmetic of a scene is understood, and ends" timeout 20 "$python" "$MILLRACE_SOURCE/tests/postproc/measure.py" numbers_of_scenes_are_bounded
ok "smoke is seen where it is, lit from the upper left" measure smoke_is_seen_where_it_is
ok "an obstacle in front hides the smoke" measure obstacle_in_front_hides_the_smoke
ok "the faces of bodies towards the viewer are seen" measure near_faces_are_seen
ok "what lies behind is hidden, also by the far end of what is long" measure what_is_behind_is_hidden
ok "a long title fits a narrow picture" measure titles_fit vortex

ok "the regions of a scene are read" measure regions_are pool pool:simulated ball:simulated air:empty:all
ok "however the list is written" measure regions_are bubble heavy:simulated bubble:simulated light:simulated:all
ok "planes of regions are linear up to the sides" measure planes_of_regions_are_linear
ok "a ball of liquid is seen as a disc, lit from above" measure ball_is_seen_as_a_disc
ok "the nearer of two regions hides the other" measure nearer_region_hides_the_other
ok "bodies are seen through water" measure bodies_are_seen_through_water
ok "bodies hide the smoke behind them" measure bodies_hide_the_smoke_behind_them
ok "bodies are cut in lines" measure cuts_are_lines

ok "picture draws a 3-D run" "$picture" plume -o plume.png --size 840 700
ok "it has the size asked for" measure has_size plume.png 840 700
ok "it is not blank" measure is_drawn plume.png 0.3
draw "$picture" plume -o first.png --size 400 560 --frame 0 --slice none
ok "the smoke of the first frame is at the lower left" measure is_brighter first.png 0.47,0.27 0.65,0.27 0.47,0.73
draw "$picture" plume -o above.png --size 500 500 --frame 0 --slice none --up y
ok "seen along z from above, the sphere is in front of the smoke" measure is_redder above.png 0.54,0.53 0.42,0.53
ok "picture draws a 2-D run" draw "$picture" vortex -o vortex.png --field vorticity --streamlines no --size 700 600
ok "positive vorticity at the lower left is red, negative at the upper left blue" \
  measure is_redder vortex.png 0.25,0.3 0.25,0.75
ok "picture makes a film" draw "$picture" vortex -o vortex.gif --field vorticity --streamlines no --size 280 240
ok "of all frames" measure has_frames vortex.gif "$(ls vortex/frames/*.h5 | wc -l)"
ok "in which vortices that decay fade" measure colours_fade vortex.gif 0.25,0.3
ok "a film of one frame is refused" measure ends_with 2 "$picture" vortex -o one.gif --frame 0
ok "so is one at no rate" measure ends_with 2 "$picture" vortex -o one.gif --rate 0
ok "and nothing is written" [ ! -e one.gif ]
ok "picture draws regions in 2-D" draw "$picture" bubble -o bubble.png --size 500 480
ok "each in its colour" measure has_colour bubble.png 0.3,0.2=#2f7fc1 0.7,0.26=#f0932b 0.5,0.75=#d9e4ee
ok "a field with the lines between them, and markers" draw "$picture" bubble -o lines.png --field pressure --markers --size 500 480
ok "picture draws regions in 3-D" draw "$picture" pool -o pool.png --size 800 460
draw "$picture" pool -o ball.png --size 400 400 --slice none --camera 0,0 --frame 0
ok "from the front, the pool fills the lower part and the ball is above it" \
  measure has_patches ball.png '#2f7fc1' 0.3 '#f0932b' 0.12566
ok "a region that is not there is refused" refuses "$picture" pool --regions honey
ok "markers that are not there are refused" refuses "$picture" pool --markers
ok "a directory without a run is refused" refuses_alone "$picture" .
ok "a field that is not there is refused" refuses "$picture" plume --field nothing
ok "a frame that is not there is refused" refuses "$picture" plume --frame 7
ok "a slice outside the box is refused" refuses "$picture" plume --slice y=3
cp -r plume damaged
truncate -s 3000 damaged/frames/frame-000002.h5
ok "a truncated frame is refused" refuses "$picture" damaged

ok "plot samples a field along a line" "$plot" vortex --line 3.14159265,0 3.14159265,6.28318531 --field velocity_y \
  --over y -o line.svg --data line.csv
ok "the samples are those of the field" measure curve_is line.csv 'np.exp(-0.4) * np.sin(x)' 3e-3
ok "the picture is an SVG file" "$python" -c 'import xml.etree.ElementTree as x; x.parse("line.svg")'
ok "plot draws columns of the ledger" draw "$plot" vortex kinetic_energy -o energy.png --log --data energy.csv
ok "the curve is that of the ledger" measure curve_is energy.csv 'np.exp(-0.4 * x)' 1e-12
ok "plot adds columns up" draw "$plot" vortex "2*kinetic_energy - time" -o sum.png --data sum.csv
ok "the curve is their sum" measure curve_is sum.csv '2 * np.exp(-0.4 * x) - x' 1e-12
ok "plot smooths columns" draw "$plot" vortex "3*time + 1" --smooth 0.5 -o smooth.png --data smooth.csv
ok "a straight line stays" measure curve_is smooth.csv '3 * x + 1' 1e-12
draw "$plot" vortex "time^2" --smooth 0.5 -o smooth.png --data smooth.csv
ok "a curve becomes its mean over the width" measure curve_is smooth.csv 'x**2 + np.minimum(0.25, np.minimum(x - x.min(), x.max() - x))**2 / 3' 2e-3
ok "no width is refused" refuses "$plot" vortex kinetic_energy --smooth 0
ok "a column that is not there cannot be added" refuses "$plot" vortex "kinetic_energy + nothing"
printf '# source\ny,u\n0,0\n1.5,0.66\n3,0.1\n' > reference.csv
draw "$plot" vortex plume kinetic_energy --reference reference.csv:y:u --label a --label b --label table -o compare.png \
  --data compare.csv --size 640 480
ok "two runs and reference points share a panel" measure has_points compare.csv table 3
ok "the plot has the size asked for" measure has_size compare.png 640 480
ok "the legend of a few curves is among them" measure legend_lies 3 in
ok "that of many beside them" measure legend_lies 9 beside
ok "of the times those that count are shown" measure parts_that_count_are_shown
ok "the solver's columns are drawn" draw "$plot" plume --solver -o solver.png
ok "a column that is not there is refused" refuses_alone "$plot" plume nothing
ok "a line outside the box is refused" refuses "$plot" plume --line 5,5,5 6,6,6
ok "a missing reference is refused" refuses "$plot" plume --reference nothing.csv

if [ -x "${MILLRACE_BUILD:-.}/millrace" ]; then
  "$MILLRACE_BUILD/millrace" run "$MILLRACE_SOURCE/inputs/flow/smoke-plume.yaml" -o real --set grid.resolution=12 \
    --set run.end_time=0.5 --set run.frame_interval=0.25 > real.log 2>&1 || sed 's/^/# /' real.log
  ok "a real plume lies above its vent and rises" measure smoke_rises real
  ok "picture draws it" draw "$picture" real -o real.png --size 840 840
  ok "it is not blank" measure is_drawn real.png 0.3
  ok "plot draws its ledger" draw "$plot" real --solver -o solver.png
  ok "the ledger names its units" measure ledger_has_unit real kinetic_energy J
  "$MILLRACE_BUILD/millrace" run "$MILLRACE_SOURCE/inputs/solids/stack.yaml" -o bodies --set run.end_time=0.05 > bodies.log 2>&1 ||
    sed 's/^/# /' bodies.log
  ok "the bodies of a run are where its ledger says" measure bodies_are_as_in_the_ledger bodies
  ok "picture draws bodies" draw "$picture" bodies -o bodies.png --size 600 500
  ok "something is seen" measure is_drawn bodies.png 0.05
  ok "by their speed too, from another side" draw "$picture" bodies -o speed.png --field speed --camera 80,5
  ok "bodies have films" draw "$picture" bodies -o bodies.gif --size 240 200
  ok "and not a picture of several sizes" measure has_size bodies.gif 240 200
  ok "bodies have no pressure" refuses "$picture" bodies --field pressure
  ok "plot draws their energy" draw "$plot" bodies solid_energy position_box.9_z -o energy.png
  "$MILLRACE_BUILD/millrace" run "$MILLRACE_SOURCE/inputs/coupling/buoyancy.yaml" -o pond --set grid.resolution=16 \
    --set run.end_time=0.05 --set run.frame_interval=0.05 > pond.log 2>&1 || sed 's/^/# /' pond.log
  ok "the bodies of a run are those of its scene" measure bodies_of_scene_are pond cork:200 wood:500 ice:900 amber:1080 stone:2500
  ok "picture draws bodies in water" draw "$picture" pond -o pond.png --size 900 420
  ok "coloured by their density" measure is_brighter pond.png 0.58,0.505 0.933,0.505
  "$MILLRACE_BUILD/millrace" run "$MILLRACE_SOURCE/inputs/liquids/rising-bubble.yaml" -o liquids --set grid.resolution=24 \
    --set run.end_time=0.2 --set run.frame_interval=0.1 --set interfaces.markers=written > liquids.log 2>&1 ||
    sed 's/^/# /' liquids.log
  ok "the regions of a run are those of its scene" measure regions_are liquids bubble:simulated liquid:simulated:all
  ok "a bubble is where its ledger says, and rises" measure bubble_is_as_in_the_ledger liquids
  ok "picture draws it with its markers" draw "$picture" liquids -o liquids.png --markers --size 500 800
  ok "the bubble in the liquid" measure has_colour liquids.png 0.54,0.27=#2f7fc1 0.54,0.7=#d9e4ee
  ok "plot draws its volume and its height" draw "$plot" liquids volume_bubble center_bubble_y -o volume.png
else
  skip "a real run" "there is no millrace"
fi
plan
# its time is part of that of this test
end=${answers[1]}
exec 8>&- {end}>&-
wait
