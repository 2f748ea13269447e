#!/usr/bin/env bash
# The scenes of inputs/examples, for a few steps: each records what it says it does. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
inputs=$MILLRACE_SOURCE/inputs/examples

records() { # NAME SIZE GROUP COLUMN...: the columns are there, with numbers
  local name=$1 group=$3 column size=()
  [ -z "$2" ] || size=(--set "grid.resolution=$2")
  millrace 1 run "$inputs/$name.yaml" -o "$name" --set run.step_limit=4 "${size[@]}" > log 2>&1 || { cat log; return 1; }
  shift 3
  for column in "$@"; do
    head -n 1 "$name/output/$group.csv" | tr , '\n' | grep -qx "$column" || { echo "no $column"; head -n 1 "$name/output/$group.csv"; return 1; }
  done
  ! sed 2d "$name/output/$group.csv" | grep -q nan # what joints bear is known from the first step on
}
ok "a dam break and a floating box" records floating-box 32 sea height_left height_right rotation_box_z position_box_x
in_the_plane() { [ "$(head -n 1 floating-box/ledger.csv | tr , '\n' | grep -E '^(position|velocity|solid).*_[xyz]$' | tr '\n' ' ')" = "$1 " ] || { head -n 1 floating-box/ledger.csv; return 1; }; }
ok "whose ledger has no columns across the plane" in_the_plane "solid_momentum_x solid_momentum_y solid_angular_momentum_z position_box_x position_box_y velocity_box_x velocity_box_y"
ok "an oscillating cylinder" records oscillating-cylinder 55 forces drag_coefficient_cylinder lift_coefficient_cylinder
ok "three liquids" records three-liquids 10 mixing height_middle pressure_below cells_below
ok "a crane" records crane "" ball position_ball_x rotation_ball_y velocity_brick.29_z angle_hook joint_force_hook_z joint_force_pin.6_z
ok "a submarine" records submarine 16 shaft angle_shaft rate_shaft velocity_hull_x torque_hull_x
# the cylinder is where its formula says, and the drag is that of the ledger
cylinder() {
  awk -F, 'NR == 1 { for (n = 1; n <= NF; n++) c[$n] = n } END { d = $c["drag_coefficient_cylinder"]; exit !(d > 0) }' oscillating-cylinder/output/forces.csv
}
ok "the stream drags the cylinder along" cylinder
listed() { for file in "$inputs"/*.yaml; do grep -q "records $(basename "$file" .yaml) " "$MILLRACE_SOURCE/tests/command/examples.sh" || { echo "$file is not run"; return 1; }; done; }
ok "every example is run" listed
plan
