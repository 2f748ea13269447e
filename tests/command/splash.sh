#!/usr/bin/env bash
# Scenes with splashing liquid: what they show, stopped and resumed on other ranks, and what is refused. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
need_h5py

inputs=$MILLRACE_SOURCE/inputs/splash

# holds EXPRESSION DIR...: of the ledgers r of these runs, columns by name (lists of numbers).
holds() {
  "$python" - "$@" << 'END'
import csv, sys
def ledger(name):
    rows = list(csv.DictReader(open(name + "/ledger.csv")))
    return {key: [float(row[key]) for row in rows] for key in rows[0]}
r = [ledger(name) for name in sys.argv[2:]]
at = lambda run, time: min(range(len(run["time"])), key=lambda n: abs(run["time"][n] - time))
if not eval(sys.argv[1]):
    print(sys.argv[1], [{key: run[key][-1] for key in run} for run in r])
    sys.exit(1)
END
}

small=(--set grid.resolution=20 --set run.end_time=1.1 --set run.frame_interval=0.55)
ok "a dam breaks over an obstacle" millrace 2 run "$inputs/dam-obstacle.yaml" -o dam "${small[@]}"
ok "and incompressibly" millrace 2 run "$inputs/dam-obstacle.yaml" -o bilateral "${small[@]}" --set splash.incompressibility=bilateral
ok "the splash is half as high again as the incompressible one" holds 'r[0]["highest_y"][-1] >= 1.5 * r[1]["highest_y"][-1]' dam bilateral
ok "pressure only pushes" holds 'min(r[0]["pressure_min"]) >= 0 > min(r[1]["pressure_min"])' dam bilateral
millrace 2 run "$inputs/dam-obstacle.yaml" -o skin "${small[@]}" --set run.end_time=0.1 --set run.frame_interval=0.1 --set splash.surface=2 > log 2>&1 || cat log
ok "picture draws the surface of a liquid, in its colour" "$python" "$MILLRACE_SOURCE/postproc/picture" skin -o skin.png --slice none --size 400 300
ok "at the left" "$python" "$MILLRACE_SOURCE/tests/postproc/measure.py" has_some skin.png 0.1,0.1,0.4,0.9=#5c9edb
ok "picture draws the density of its liquid" "$python" "$MILLRACE_SOURCE/postproc/picture" dam -o dam.png --size 500 300
ok "no particle is lost" holds 'len(set(r[0]["particles"])) == 1 and len(set(r[1]["mass"])) == 1' dam bilateral
ok "the correction holds the density" holds 'max(r[0]["density_max"]) > 1.01 and max(r[0]["density_corrected"]) <= 1 + 1e-4' dam

millrace 1 run "$inputs/fountain.yaml" -o fountain --set let.full=0 --set run.end_time=0.25 --set run.frame_interval=0.25 > log 2>&1 || cat log
ok "a fountain takes in area times speed, to one layer" \
  holds 'all(abs(n - (1 + 8 * t / 0.2) * r[0]["particles"][0]) <= r[0]["particles"][0] / 4 for n, t in zip(r[0]["particles"], r[0]["time"]))' fountain
millrace 2 run "$inputs/dam-obstacle.yaml" -o drained "${small[@]}" --set fluid.sides.x_high=open --set run.end_time=2.2 > log 2>&1 || cat log
ok "what runs out of an open side is counted" holds 'sum(r[0]["particles_left"]) + r[0]["particles"][-1] == r[0]["particles"][0] and r[0]["particles"][-1] < 0.9 * r[0]["particles"][0]' drained

room() { "$python" -c 'import glob, h5py, sys; room = h5py.File(sorted(glob.glob(sys.argv[1] + "/frames/*.h5"))[-1])["grid/fields/room"][()]; sys.exit(not eval(sys.argv[2]))' "$@"; }
millrace 2 run "$inputs/dam-obstacle.yaml" -o sharp "${small[@]}" --set run.end_time=0.6 --set run.frame_interval=0.6 --set fluid.obstacles=voxels > log 2>&1 || cat log
ok "an obstacle of whole cells is sharp" room sharp 'set(room.ravel()) == {0, 1}'
ok "another is blurred" room dam '((room > 0.01) & (room < 0.99)).any()'
ok "the dam breaks over the sharp one, too" holds 'r[0]["highest_x"][-1] > 4.6 and len(set(r[0]["particles"])) == 1 and max(r[0]["density_corrected"]) <= 1 + 1e-4' sharp

tight=("${small[@]}" --set splash.tolerance=1e-12)
ok "twenty steps" millrace 1 run "$inputs/dam-obstacle.yaml" -o whole "${tight[@]}" --set run.step_limit=20
millrace 1 run "$inputs/dam-obstacle.yaml" -o part "${tight[@]}" --set run.step_limit=9 > log 2>&1 || cat log
ok "nine and eleven, on the same rank" millrace 1 run "$inputs/dam-obstacle.yaml" -o part "${tight[@]}" --set run.step_limit=20 --restart latest
ok "are twenty" same whole part
millrace 4 run "$inputs/dam-obstacle.yaml" -o other "${tight[@]}" --set run.step_limit=9 > log 2>&1 || cat log
ok "nine on four ranks and eleven on two" millrace 2 run "$inputs/dam-obstacle.yaml" -o other "${tight[@]}" --set run.step_limit=20 --restart latest
ok "are twenty on one, to 1e-10" same whole other 1e-10

scene=$inputs/dam-obstacle.yaml
ok "viscosity" bad "fluid.viscosity has no meaning with splash" -- "$scene" --set fluid.viscosity=1
ok "an open side of what cannot leave" bad "fluid.sides.y_high is open" "wall, slip" -- "$scene" --set fluid.sides.y_high=open --set splash.incompressibility=bilateral
ok "an inflow" bad "liquid comes in by splash.sources" -- "$scene" --set 'fluid.sides.y_high={type: inflow, velocity: [0, -1, 0]}'
ok "nine particles along a cell" bad "splash.particles must lie between 2 and 8" -- "$scene" --set splash.particles=9
ok "a source that stands still" bad "splash.sources[0].velocity is 0" -- "$inputs/fountain.yaml" --set 'splash.sources.jet.velocity=[0, 0, 0]'
ok "a surface in the plane" bad "splash.surface is for three dimensions" -- "$scene" --set grid.dimension=2 --set splash.surface=2
ok "no liquid" bad "neither liquid nor sources" -- "$scene" --set 'splash.liquid=[]'
plan
