#!/usr/bin/env bash
# A run that is stopped half-way and resumed equals one that was not: bit for bit on the same ranks, to 1e-10 on
# others; with everything that a scene can hold. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
need_h5py

run() { # RANKS SCENE DIR STEPS [ARGUMENT...]
  millrace "$1" run "$scenes/$2.yaml" -o "$3" --set run.step_limit="$4" "${@:5}" > log 2>&1 || cat log
}

whole=20 half=10 # steps
resumed() { # SCENE FROM TO [TOLERANCE [RANKS]]: as the whole run on RANKS, else FROM; within a tolerance as $within says
  local judge=same
  [ -z "${4:-}" ] || judge=${within:-same}
  cp -r "$1-half-$2" "$1-$2-$3"
  run "$3" "$1" "$1-$2-$3" $whole --restart latest
  $judge "$1-whole-${5:-$2}" "$1-$2-$3" ${4:+"$4"}
}

# The same apart from what the solvers have counted.
alike() {
  same "$@" > differences
  cat differences
  ! grep "differs" differences | grep -qv "_iterations differs\|point_report differs"
}

# everywhere SCENE NAME [RANKS]: on the same RANKS (else 1 and 2) and on more and fewer. More ranks than cores cost more
# than all else: four of them end as they began, and write, where both fluid and bodies are divided.
everywhere() {
  local ranks change same_ranks=${3:-1 2}
  for ranks in $same_ranks; do
    run $ranks "$1" "$1-whole-$ranks" $whole
    run $ranks "$1" "$1-half-$ranks" $half
    ok "$2: resumed on the same $ranks ranks, bit for bit" resumed "$1" $ranks $ranks
  done
  for change in "2 4" "${same_ranks##* } 1"; do
    ok "$2: written on ${change% *} and resumed on ${change#* } ranks, to 1e-10" resumed "$1" $change 1e-10 1
  done
}

everywhere plane plane
whole=10 half=5
everywhere space space

# Regions, their markers and a one-way gas.
everywhere surface surface
whole=20 half=10
everywhere liquids liquids
everywhere outside "open sides"
everywhere changes "materials that change"
everywhere elastic "an elastic blob in air"
everywhere flame "a drop that burns on water"
everywhere reacting "two drops that react"
everywhere elastic-bodies "a ball that falls into gel"

# Bodies are computed alike on all ranks of the solid team.
for ranks in 1 2; do
  run $ranks bodies bodies-whole-$ranks 20
  run $ranks bodies bodies-half-$ranks 10
done
run 4 bodies bodies-whole-4 20
for change in "1 1" "2 2" "2 4" "2 1"; do
  ok "bodies: written on ${change% *} and resumed on ${change#* } ranks, bit for bit" resumed bodies $change
done
ok "bodies: 1 and 4 ranks, bit for bit" same bodies-whole-1 bodies-whole-4

# Deformable solids likewise: explicit, with bindings and a skin, and in implicit steps.
for scene in deformable bound implicit cloth; do
  run 1 $scene $scene-whole-1 20
  run 1 $scene $scene-half-1 10
  run 2 $scene $scene-half-2 10
  for change in "1 1" "2 1" "1 2"; do
    ok "$scene: written on ${change% *} and resumed on ${change#* } ranks, bit for bit" resumed $scene $change "" 1
  done
done
run 2 deformable deformable-apart 20 --set parallel.solid_ranks=1
ok "deformable: on a rank of their own as on all, bit for bit" same deformable-whole-1 deformable-apart
everywhere both "bodies in a fluid" "1 2 4"
whole=12 half=6 within=alike # after twenty the parts of the box show by 7e-10, and before in iterations
everywhere soft "a soft ball in water"
run 1 soft soft-schur $whole --set coupling.solver=schur
ok "a soft ball in water: by either solver, to 1e-9 but for the number of iterations" alike soft-whole-1 soft-schur 1e-9
whole=8 half=4
everywhere sheet "cloth in water"
run 1 sheet sheet-schur $whole --set coupling.solver=schur
ok "cloth in water: by either solver, to 1e-8 but for the number of iterations" alike sheet-whole-1 sheet-schur 1e-8
everywhere pressed "soft balls and a cloth that meet in water"
whole=6 half=3
everywhere bones "bones in flesh in water"
whole=20 half=10 within=
everywhere collision "a collision in water" # in the middle of it, with a free surface and a shell
run 1 collision collision-schur 20 --set coupling.solver=schur
ok "a collision in water: by either solver, to 1e-9 but for the number of iterations" alike collision-whole-1 collision-schur 1e-9

run 2 both both-apart 20 --set parallel.solid_ranks=1
ok "bodies in a fluid: on the last fluid rank as on one of their own, to 1e-10" same both-whole-2 both-apart 1e-10

# A closed box, whose pressure is free up to a constant.
cavity() { # RANKS DIR STEPS [ARGUMENT...]
  millrace "$1" run "$MILLRACE_SOURCE/inputs/flow/cavity.yaml" -o "$2" --set grid.resolution=24 \
    --set run.step_limit="$3" "${@:4}" > log 2>&1 || cat log
}
cavity 1 cavity-whole 20
cavity 4 cavity 10
cavity 2 cavity 20 --restart latest
ok "a closed box: begun on 4, resumed on 2 ranks as on 1, to 1e-10" same cavity-whole cavity 1e-10

# A team of solids that idles is left out of the state.
millrace 3 run "$scenes/plane.yaml" -o team --set run.step_limit=10 --set parallel.solid_ranks=1 > log 2>&1
ok "plane: with a rank of its own for solids, bit for bit" same plane-half-2 team
plan
