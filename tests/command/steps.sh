#!/usr/bin/env bash
# The steps of a run: what `check` says of their number and cost, steps that are too long, the ledger's cfl. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"

inputs=$MILLRACE_SOURCE/inputs
said_steps() { millrace 1 check "$@" | sed -n 's/^time step .*: \([0-9]*\) steps.*/\1/p'; }

# within_two SCENE ARGUMENT...: the estimate is within a factor of two of the steps that the run takes.
within_two() {
  local scene=$inputs/$1.yaml said taken
  said=$(said_steps "$scene" "${@:2}")
  rm -rf run
  millrace 1 run "$scene" -o run "${@:2}" > log 2>&1 || { cat log && return 1; }
  taken=$(rows run)
  echo "# $1: $said steps foretold, $((taken - 1)) taken" >&3
  [ "$said" -le $((2 * (taken - 1))) ] && [ $((2 * said)) -ge $((taken - 1)) ]
}
exec 3>&1
ok "steps of Taylor-Green vortices" within_two flow/taylor-green --set grid.resolution=16
ok "steps of a smoke plume" within_two flow/smoke-plume --set grid.resolution=12
ok "steps of a dam that breaks" within_two liquids/dam-break --set grid.resolution=32
ok "steps of a splash" within_two splash/dam-obstacle --set grid.resolution=16
ok "steps of a standing wave" within_two liquids/standing-wave --set grid.resolution=16
ok "steps of a jet" within_two liquids/air-coupling --set grid.resolution=32
ok "steps of a capillary wave" within_two liquids/capillary-wave --set grid.resolution=12
ok "steps of five spheres in a pool" within_two coupling/buoyancy --set grid.resolution=16
ok "steps of a light ball" within_two coupling/light-ball --set grid.resolution=12
ok "steps of a paddle wheel" within_two coupling/paddle-wheel --set grid.resolution=12

for scene in "$inputs"/*/*.yaml; do
  millrace 1 check "$scene" > said 2>&1 || cat said
  sed -n '/^memory *[1-9][0-9]* MB/p; /^time step .* [1-9][0-9]* steps to/p' said
done > numbers
ok "memory and steps of every scene are numbers" \
  [ "$(wc -l < numbers)" = $((2 * $(ls "$inputs"/*/*.yaml | wc -l))) ]

for ranks in 1 2; do
  millrace $ranks check "$inputs/flow/cavity.yaml" --set grid.resolution=16 --step > said 2>&1
  ok "one step on $ranks ranks tells the time of a run" \
    grep -q "^wall time  [0-9.e-]* s for the first step on $ranks rank.*: about [0-9.e+-]* s for the run$" said
done
ok "a step of bodies alone, too" \
  grep -q "^wall time" <(millrace 1 check "$inputs/solids/stack.yaml" --step)
ok "nothing is left behind" [ ! -e cavity-run ]
ok "ranks that are not there take no step" refused 2 "leave --ranks out" -- \
  millrace 1 check "$inputs/flow/cavity.yaml" --step --ranks 4

# The solver of elasticity that check foretells, and why, against that in the ledger: 0 none, 2 cg, 3 cholesky, 4 multigrid.
cat > block.yaml << 'END'
title: block
run: {end_time: 1, frame_interval: 1, step_limit: 2, time_step: 1e-3}
solids:
  gravity: [0, 0, -9.81]
  elasticity: newmark
  materials: [{name: rubber, young: 1e5, poisson: 0.3, density: 1000, damping: 1e-3}]
  meshes:
    - name: block
      shape: {box: {low: [0, 0, 0], high: [1, 1, 1]}}
      edge: 0.4
      material: rubber
      held: [{inside: {box: {low: [-1, -1, 0.9], high: [2, 2, 2]}}}]
END
column() { awk -F, -v name="$2" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) c = i} NR > 1 {print $c}' "$1/ledger.csv"; }
takes() { # NUMBER WORDS SCENE ARGUMENT...
  millrace 1 check "${@:3}" > said || return 1
  grep -q "^solver     $2" said || { grep "^solver" said; return 1; }
  rm -rf run
  millrace 1 run "${@:3}" -o run > log 2>&1 || { cat log && return 1; }
  [ "$(column run elastic_solver | tail -n 1)" = "$1" ] || { column run elastic_solver && return 1; }
}
ok "a block takes conjugate gradients in short steps" takes 2 "cg: half a step .* below 100$" block.yaml
ok "a factor in long ones" takes 3 "cholesky: half a step .* not below 100, with 144 unknowns" block.yaml --set run.time_step=0.5 --set solids.materials.rubber.young=1e8
ok "and in equilibrium" takes 3 "cholesky: equilibrium, with 144 unknowns" block.yaml --set solids.elasticity=static
ok "what the scene says" takes 4 "multigrid: the scene says so" block.yaml --set solids.solver=multigrid
ok "none in explicit substeps" takes 0 "none: elasticity is explicit$" block.yaml --set solids.elasticity=explicit
torus=("$inputs/coupling/soft-torus.yaml" --set grid.resolution=16 --set let.edge=0.08 --set run.step_limit=2)
ok "a soft torus in water takes a factor" takes 3 "cholesky: without contact, .* not below 64" "${torus[@]}"
ok "and conjugate gradients where it is softer" takes 2 "cg: without contact, .* below 64$" "${torus[@]}" --set solids.materials.rubber.young=100
ok "bodies alone have none" [ -z "$(millrace 1 check "$inputs/solids/stack.yaml" | grep ^solver)" ]

cat > blob.yaml << 'END'
title: blob
grid: {dimension: 2, size: [1, 1], resolution: 32}
run: {end_time: 0.5, frame_interval: 0.5}
fluid:
  density: 1
  initial: {velocity: ["1 + 0.2*sin(2*pi*y)", 0]}
  sides: {all: periodic}
  scalars: [{name: dye, initial: "exp(-((x-0.25)^2+(y-0.5)^2)/0.01)"}]
END
largest() { column "$1" "$2" | sort -g | tail -n 1; }
at_most() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a != "" && a <= b)}' || { echo "$1 > $2" && return 1; }; }
equal_columns() { # NAME DIR DIR
  paste <(column "$2" "$1") <(column "$3" "$1") |
    awk '{d = $1 - $2; if (d < 0) d = -d; if (NF < 2 || d > 1e-9) {print; bad = 1}} END {exit bad || !NR}'
}
for ranks in 1 2 3; do
  millrace $ranks run blob.yaml -o fixed-$ranks --set run.time_step=0.25 > /dev/null 2> errors
  ok "a fixed step that is too long is cut, and told once, on $ranks ranks" \
    [ "$(grep -c 'a step of run.time_step = 0.25 s is too long' errors)" = 1 ]
  ok "nothing goes farther than two cells" at_most "$(largest fixed-$ranks cfl)" 2.0000001
  ok "the ledger's cfl on $ranks ranks" equal_columns cfl fixed-1 fixed-$ranks
done
millrace 1 run blob.yaml -o small --set run.time_step=0.01 > /dev/null 2> errors
ok "a fixed step that is not is left alone" [ ! -s errors ]
ok "and is what the ledger says" at_most "$(largest small dt)" 0.0100000001
ok "farther than two cells cannot be asked for" refused 2 "fluid.cfl must lie between 0.01 and 2" -- \
  millrace 1 run blob.yaml -o never --set fluid.cfl=4

# A motion that jumps.
cat > jump.yaml << 'END'
grid: {dimension: 2, size: [1, 1], resolution: 8}
run: {end_time: 1, frame_interval: 0.1}
fluid: {density: 1}
obstacles:
  - {name: ball, shape: {sphere: {center: [0.5, 0.5], radius: 0.1}}, motion: {translation: ["0.3*step(t-0.25)", "0"]}}
END
ok "a motion that jumps ends the run, and is told of" \
  refused 3 "t = 0.2" "let motions and inflows begin and change smoothly" -- millrace 1 run jump.yaml -o jump
ok "a run without a title has no colon for one" [ "$(grep -c '^8 x 8 x 1 cells' said)" = 1 ]
plan
