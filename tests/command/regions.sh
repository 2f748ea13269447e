#!/usr/bin/env bash
# Regions that cannot start are refused: a clear message, exit code 2, nothing written. One that vanishes on the way
# is told, and the run goes on. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"

cat > good.yaml << 'END'
title: two layers
grid: {dimension: 2, size: [1, 1], resolution: 16}
run: {end_time: 0.4, frame_interval: 0.1}
fluid:
  gravity: [0, -1]
  sides: {all: slip}
regions:
  - {name: low, density: 1000, shape: {box: {low: [-1, -1], high: [2, 0.25]}}}
  - {name: middle, density: 800, shape: {box: {low: [-1, 0.25], high: [2, 0.5]}}}
  - {name: high, density: 600, shape: {box: {low: [-1, 0.5], high: [2, 2]}}}
END

# column DIR NAME: its values in the ledger.
column() { "$python" -c 'import csv, sys; [print(float(row[sys.argv[2]])) for row in csv.DictReader(open(sys.argv[1] + "/ledger.csv"))]' "$@"; }

ok "shapes that fit are run" millrace 1 run good.yaml -o layers
overlap=(good.yaml --set regions.1.shape.box.low=[-1,0.0625])
empty=(good.yaml --set regions.1.shape.box.low=[-1,0.4375])
for ranks in 1 2; do
  RANKS=$ranks ok "regions that overlap, on $ranks ranks" bad '"low"' '"middle"' overlap "0.15625" "interfaces.overlap" -- "${overlap[@]}"
  RANKS=$ranks ok "a place without a region, on $ranks ranks" bad "no region" "0.34375" "interfaces.overlap" -- "${empty[@]}"
done
ok "unless they are to be projected" millrace 1 run "${overlap[@]}" -o overlap --set interfaces.overlap=project
ok "unless the void is to be projected" millrace 1 run "${empty[@]}" -o void --set interfaces.overlap=project
ok "check knows scenes with contact angles" refused 0 "steps to t" -- millrace 1 check "$scenes/liquids.yaml"

# The upper liquid leaves through the open side, pushed by what comes from below.
cat > leaves.yaml << 'END'
title: what leaves
grid: {dimension: 2, size: [0.5, 1], resolution: 8}
run: {end_time: 1.6, frame_interval: 0.4}
fluid:
  sides: {all: slip, y_low: {type: inflow, velocity: [0, 1]}, y_high: open}
  initial: {velocity: [0, 1]}
regions:
  - {name: pushing, density: 1, shape: {box: {low: [-1, -1], high: [2, 0.5]}}}
  - {name: leaving, density: 1}
END
# once COLUMN VALUE DIR: the value appears in one row of the ledger, and steps follow it.
once() {
  column "$3" "$1" > values
  [ "$(grep -c "^$2$" values)" = 1 ] && [ "$(tail -n 1 values)" = 0.0 ] || { cat values && return 1; }
}
for ranks in 1 2; do
  out=leaves-$ranks
  ok "a run ends well without a region that has left, on $ranks ranks" refused 0 'warning: at t = ' \
    'region "leaving" has vanished' "to t = 1.6 s" -- millrace $ranks run leaves.yaml -o $out
  ok "it is said once" [ "$(grep -c "has vanished" said)" = 1 ]
  ok "and the ledger has its number" once vanished_region 2.0 $out
  ok "and no volume left of it" [ "$(column $out volume_leaving | tail -n 1)" = 0.0 ]
done
plan
