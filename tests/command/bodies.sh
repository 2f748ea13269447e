#!/usr/bin/env bash
# Scenes of bodies: a run writes what it should, and what cannot be is refused at its place, before anything is
# written. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"

head='title: bodies
run: {end_time: 1, frame_interval: 0.1, time_step: 0.01, step_limit: 10}
solids:
  gravity: [0, 0, -9.81]
  bodies:
'
floor='    - {name: floor, type: static, shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}}
'
ball='    - {name: ball, shape: {sphere: {center: [0, 0, 0.5], radius: 0.1}}}
'
scene() { printf '%s' "$head" "$@" > scene.yaml; }

# bad WORD... : the scene is refused by run and check with the words, and nothing is written.
bad() {
  refused 2 "$@" -- millrace 1 check scene.yaml && refused 2 "$@" -- millrace "${RANKS:-1}" run scene.yaml -o out ||
    return 1
  [ ! -e out ] || { echo "something was written" && return 1; }
  ! grep -q PETSC said || { cat said && return 1; }
}

scene "$floor" "$ball"
ok "check counts bodies and ranks" refused 0 "bodies     2, 0 joints" "0 fluid, 3 solid" -- millrace 1 check scene.yaml --ranks 3
ok "a run of bodies" refused 0 "2 bodies" contacts "10 steps" -- millrace 2 run scene.yaml -o fall
ok "it has a frame at its end" [ -e fall/frames/frame-000001.h5 ]
ok "its ledger has the body" says fall/ledger.csv solid_energy position_ball_z velocity_ball_x
falls() { tail -n 1 fall/ledger.csv | tr , '\n' | awk '{ if (($1 + 0.981) ^ 2 < 1e-20) found = 1 } END { exit !found }'; }
ok "the ball falls at 0.981 m/s after 0.1 s" falls
ok "info shows the bodies' state" refused 0 placements twists -- millrace 1 info fall/checkpoints/checkpoint-00000010.h5
scene "$floor" '    - {name: ball, shape: {sphere: {center: [0, 0, 0.5], radius: 0.1}}, copies: {count: [200, 200, 1], step: [1, 1, 1]}}
'
ok "bodies too many for surfaces" refused 0 "40001 bodies" -- millrace 1 run scene.yaml -o many --set run.step_limit=1
ok "are points in frames" refused 0 "meshes/bodies/vertex_fields/radius" "40001 x 3" -- millrace 1 info many/frames/frame-000000.h5
scene "$floor" "$ball" "    - {name: other, shape: {sphere: {center: [1, 0, 0.5], radius: 0.1}}}
"
ok "a checkpoint of other bodies is refused" refused 2 "2 bodies: floor, ball" "3 bodies" -- \
  millrace 1 run scene.yaml -o fall --restart latest

scene "    - {name: a, type: static, shape: {sphere: {center: [0, 0, 0], radius: 1}}}
    - {name: b, type: static, shape: {sphere: {center: [0.5, 0, 0], radius: 1}}}
" "$ball"
ok "static bodies that overlap" bad '"a"' '"b"' overlap
scene "$floor" "    - {name: a, shape: {sphere: {center: [0, 0, 0.05], radius: 0.5}}}
"
ok "bodies that overlap at the start" bad '"a"' scene.yaml
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n' > good.obj
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 3 2\nf 1 2 3\n' > flat.obj
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n' > open.obj
for file in flat open; do
  scene "    - {name: stone, shape: {surface: {file: $file.obj}}}
"
  ok "a surface that is $file is no body" bad scene.yaml:6: stone
done
scene "    - {name: stone, shape: {surface: {file: good.obj}}}
"
RANKS=2 ok "a good one is" refused 0 "1 body" -- millrace 2 run scene.yaml -o stone
scene "    - {name: leaf, thickness: 0.01, shape: {surface: {file: open.obj}}}
"
ok "an open one with a thickness is" refused 0 "1 body" -- millrace 1 run scene.yaml -o leaf
angle="{union: [{box: {low: [0, 0, 2], high: [1, 0.2, 2.2]}}, {box: {low: [0, 0, 2], high: [0.2, 0.2, 3]}}]}"
scene "    - {name: angle, velocity: [1, 0, 0], shape: $angle}
"
# its momentum along x is its mass, 72 kg but for what its edges lose: of second order in the lattice's spacing
weighs() {
  local column
  millrace 1 run scene.yaml -o angle --overwrite --set solids.bodies.angle.contour="$1" > weighed 2>&1 || { cat weighed; return 1; }
  column=$(head -n 1 angle/ledger.csv | tr , '\n' | grep -n solid_momentum_x | cut -d: -f1)
  sed -n 2p angle/ledger.csv | cut -d, -f"$column" | awk -v least="$2" -v most="$3" '{ if (!($1 > least && $1 < most)) { print $1; exit 1 } }'
}
ok "a union is a body" weighs 32 70.5 71.5
ok "with a mass of second order" weighs 64 71.9 72
scene "$floor" "    - {name: bowl, shape: {difference: [{sphere: {center: [1, 0, 0.21], radius: 0.2}}, {sphere: {center: [1, 0, 0.3], radius: 0.2}}]}}
" "    - {name: egg, shape: {intersection: [{box: {low: [2, -1, 0], high: [4, 1, 2]}}, {formula: {value: '(x-3)^2+y^2+(z-1)^2/2-0.25'}}]}}
"
RANKS=2 ok "so are differences and formulas" refused 0 "3 bodies" -- millrace 2 run scene.yaml -o bowl
scene "    - {name: egg, shape: {formula: {value: 'x^2+y^2+z^2-1'}}}
"
ok "a formula without an end is no body" bad scene.yaml:6: "egg" "has no end" "intersection: [{box"
scene "    - {name: gap, shape: {difference: [{box: {low: [0, 0, 0], high: [1, 1, 1]}}, {box: {low: [-1, -1, -1], high: [2, 2, 2]}}]}}
"
ok "nor is what nobody can find" bad scene.yaml:6: "gap" "nothing of it is found"
scene "    - {name: angle, contour: 4, shape: $angle}
"
ok "nor a lattice that is too coarse" bad scene.yaml:6: "between 8 and 256"
cat > flat.yaml << END
grid: {dimension: 2, size: [2, 1], resolution: 32}
run: {end_time: 1, frame_interval: 1, time_step: 0.01, step_limit: 2}
fluid: {density: 1000, gravity: [0, -9.81]}
solids: {bodies: [{name: ring, density: 500, shape: {difference: [{sphere: {center: [1, 0.5], radius: 0.3}}, {sphere: {center: [1, 0.6], radius: 0.2}}]}}]}
END
ok "one in a plane is a prism in the water" refused 0 "1 body" "2 steps" -- millrace 2 run flat.yaml -o flat
scene "$floor" "    - {name: a, type: static, shape: {sphere: {center: [0, 0, 2], radius: 0.1}}}
" "$ball" "  joints:
    - {name: pin, parent: floor, child: a, anchor: [0, 0, 1]}
"
ok "a joint between static bodies" bad scene.yaml:10: '"pin"'
scene "$ball" "  joints:
    - {name: pin, parent: ball, child: ball, anchor: [0, 0, 1]}
"
RANKS=2 ok "a joint of a body with itself" bad "scene.yaml:8:" "to itself"
scene "$ball" "  joints:
    - {name: pin, type: hinge, child: ball, anchor: [0, 0, 1], lower: 1, upper: 2}
"
ok "limits that cannot be reached" bad "scene.yaml:8:" "outside its limits"
scene "    - {name: ball, mass: 0, shape: {sphere: {center: [0, 0, 0.5], radius: 0.1}}}
"
ok "no mass" bad "scene.yaml:6:" "must be positive"
cat > water.yaml << 'END'
grid: {size: [1, 1, 1], resolution: 8}
run: {end_time: 1, frame_interval: 1, time_step: 0.01, step_limit: 1}
fluid: {density: 1000, viscosity: 0.001, gravity: [0, 0, -9.81]}
solids: {bodies: [{name: ball, density: 500, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.25}}}]}
END
logs() { refused 0 "1 step to" -- millrace 3 run water.yaml -o log -log_view :log.py:ascii_info_detail && says log.py "half step" "advecting"; }
ok "PETSc's log in detail, with a rank that has no fluid" logs
ok "a rank that idles for the bodies is offered to the fluid" refused 0 "--set parallel.solid_ranks=0" -- \
  millrace 2 run water.yaml -o idle --set grid.resolution=24 --set parallel.solid_ranks=1
shares() { refused 0 "share the last of 2 ranks" -- millrace 2 run water.yaml -o shared "$@"; }
ok "of two ranks the bodies share one" shares
ok "also if that is left to the program by its word" shares --set parallel.solid_ranks=auto --overwrite
ok "of three they do not" refused 0 "2 fluid, 1 solid" -- millrace 3 check water.yaml
ok "another word is refused" refused 2 "whole number or auto" -- millrace 2 check water.yaml --set parallel.solid_ranks=automatic
for scene in "$MILLRACE_SOURCE"/inputs/solids/*.yaml; do
  ok "${scene##*/} is good" refused 0 "bodies     " -- millrace 1 check "$scene"
done
plan
