#!/usr/bin/env bash
# Rigid bodies and obstacles that move in splashing liquid: they float, sink, push, and go on on other ranks. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
need_h5py

# holds EXPRESSION DIR: of its ledger, columns by name (lists of numbers); `mean` weighs by the steps from a time on.
holds() {
  "$python" - "$@" << 'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[2] + "/ledger.csv")))
r = {key: [float(row[key]) for row in rows] for key in rows[0]}
def mean(name, start):
    steps = [n for n in range(len(rows)) if r["time"][n] > start]
    return sum(r[name][n] * r["dt"][n] for n in steps) / sum(r["dt"][n] for n in steps)
if not eval(sys.argv[1]):
    print(sys.argv[1], {key: r[key][-1] for key in r})
    sys.exit(1)
END
}

cat > float.yaml << 'END'
grid: {size: [1.6, 1.6, 1.6], resolution: 16}
fluid: {density: 1000, gravity: [0, -9.81, 0], cfl: 1}
run: {end_time: 8, frame_interval: 4}
splash:
  liquid:
    - shape: {box: {low: [0, 0, 0], high: [1.6, 0.8, 1.6]}}
solids:
  bodies:
    - {name: crate, shape: {box: {low: [0.5, 0.8, 0.5], high: [1.1, 1.4, 1.1]}}, density: 300}
END
# The level that the water has with the crate in it, less the crate's draught, and half of its height.
for density in 300 800; do
  millrace 1 run float.yaml -o "at$density" --set "solids.bodies.crate.density=$density" > log 2>&1 || cat log
  ok "a crate of $density kg/m^3 floats at its Archimedes depth, within half a cell" \
    holds "abs(mean('position_crate_y', 4) - (0.8 + 0.6**3 * $density / 1000 / 1.6**2 - 0.6 * $density / 1000 + 0.3)) < 0.05" "at$density"
done
ok "and no particle is lost" holds 'len(set(r["particles"])) == 1' at800
# Let go a third of a cell too high: a raft that floats upright at any density, and a ball. 1.6/12 is a cell.
near=(--set grid.resolution=12 --set run.end_time=3 --set run.frame_interval=3)
raft() { "$python" -c "d = $1; y = 1.2 - 0.4 * d + 0.04; print('{box: {low: [0.37, %g, 0.4], high: [1.17, %g, 1.2]}}' % (y - 0.2, y + 0.2))"; }
for density in 200 500 900; do
  millrace 1 run float.yaml -o "raft$density" "${near[@]}" --set 'splash.liquid.0.shape.box.high=[1.6, 1, 1.6]' \
    --set "solids.bodies.crate.density=$density" --set "solids.bodies.crate.shape=$(raft "$density/1000")" > log 2>&1 || cat log
  ok "a raft of $density kg/m^3 floats at its Archimedes depth, within half a cell" \
    holds "abs(mean('position_crate_y', 1) - (r['mass'][-1] / 1000 + 0.256 * $density / 1000) / 1.6**2 - 0.2 + 0.4 * $density / 1000) < 0.8 / 12" "raft$density"
done
millrace 1 run float.yaml -o ball "${near[@]}" --set solids.bodies.crate.density=500 --set 'solids.bodies.crate.shape={sphere: {center: [0.8, 0.84, 0.8], radius: 0.3}}' > log 2>&1 || cat log
ok "a ball of half the density floats half in the water, within half a cell" \
  holds "abs(mean('position_crate_y', 1) - (r['mass'][-1] / 1000 + 0.5 * 0.1131) / 1.6**2) < 0.8 / 12" ball
millrace 1 run float.yaml -o stone --set solids.bodies.crate.density=2500 > log 2>&1 || cat log
ok "a stone rests on the floor" holds 'abs(r["position_crate_y"][-1] - 0.3) < 0.02 and abs(r["velocity_crate_y"][-1]) < 1e-3' stone

cat > step.yaml << 'END'
grid: {dimension: 2, size: [1, 1], resolution: 20}
fluid: {density: 1000, gravity: [0, -9.81], cfl: 0.5}
run: {end_time: 1, frame_interval: 1}
splash:
  liquid:
    - shape: {box: {low: [0, 0, 0], high: [1, 0.1, 1]}}
obstacles:
  - {name: step, shape: {box: {low: [0.3, -1, -1], high: [0.7, 0.4, 1]}}}
solids:
  bodies:
    - {name: ball, shape: {sphere: {center: [0.5, 0.6, 0], radius: 0.1}}, density: 2000}
END
for ranks in 1 2; do
  millrace $ranks run step.yaml -o "step$ranks" > log 2>&1 || cat log
  ok "a ball rests on an obstacle, on $ranks" holds 'abs(r["position_ball_y"][-1] - 0.5) < 2e-3 and abs(r["velocity_ball_y"][-1]) < 1e-3' "step$ranks"
done

cat > piston.yaml << 'END'
grid: {dimension: 2, size: [1, 2], resolution: 20}
fluid: {density: 1000, gravity: [0, -9.81], cfl: 0.5}
run: {end_time: 1, frame_interval: 1}
splash:
  liquid:
    - shape: {box: {low: [0, 0.2, 0], high: [1, 0.7, 1]}}
obstacles:
  - {name: piston, shape: {box: {low: [-0.5, -1, -1], high: [1.5, 0.2, 1]}}, motion: {velocity: [0, 0.5, 0]}}
END
ok "a piston" millrace 1 run piston.yaml -o piston
ok "lifts the water on it by its way, within half a cell" holds 'abs(r["centre_y"][-1] - r["centre_y"][0] - 0.5) < 0.025' piston
ok "and carries its weight" holds 'abs(mean("pressure_force_piston_y", 0.2) / (r["mass"][0] * 9.81) + 1) < 0.05' piston
ok "pressure only pushes" holds 'min(r["pressure_min"]) >= 0' piston

millrace 1 run piston.yaml -o full --set run.end_time=0.2 --set run.frame_interval=0.2 --set 'splash.liquid.0.shape.box.high=[1, 2, 1]' > log 2>&1
ok "a piston makes a full tank overfull, which is counted" holds 'r["pressure_overfull"][-1] == 1 and r["density_corrected"][-1] > 1.03' full
ok "and told" grep -q "sealed parts are overfull" log

tight=(--set splash.tolerance=1e-12 --set run.checkpoint_interval=0)
ok "sixteen steps" millrace 1 run float.yaml -o whole "${tight[@]}" --set run.step_limit=16
millrace 1 run float.yaml -o part "${tight[@]}" --set run.step_limit=9 > log 2>&1 || cat log
ok "nine and seven" millrace 1 run float.yaml -o part "${tight[@]}" --set run.step_limit=16 --restart latest
ok "are sixteen, to the bit" same whole part
millrace 4 run float.yaml -o other "${tight[@]}" --set run.step_limit=9 > log 2>&1 || cat log
ok "nine on four ranks and seven on two" millrace 2 run float.yaml -o other "${tight[@]}" --set run.step_limit=16 --restart latest
ok "are sixteen on one, to 1e-9" same whole other 1e-9

ok "a ball in an obstacle" bad "reaches 0.05 m into the obstacle" -- step.yaml --set 'solids.bodies.ball.shape.sphere.center=[0.5, 0.45, 0]'
ok "a mesh" bad "solids.meshes are not coupled to splash" -- float.yaml --set 'solids.meshes=[{name: m, material: rubber, mesh: {box: {low: [0, 0, 0], high: [1, 1, 1], cells: [1, 1, 1]}}}]'
ok "a shell" bad "solids.bodies[0] is a shell" -- float.yaml --set solids.bodies.crate.thickness=0.01
ok "bodies between bilateral pressures" bad "which knows still obstacles only" -- float.yaml --set splash.incompressibility=bilateral
plan
