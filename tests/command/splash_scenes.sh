#!/usr/bin/env bash
# What the larger scenes of splashing liquid claim, on their own files at reduced size. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
need_h5py

inputs=$MILLRACE_SOURCE/inputs/splash

# holds EXPRESSION DIR: of its ledger r (lists of numbers) and frames: times, particles p and speeds.
cat > claims.py << 'END'
import csv, glob, sys
import h5py
import numpy as np
rows = list(csv.DictReader(open(sys.argv[2] + "/ledger.csv")))
r = {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}
frames = [h5py.File(name, "r") for name in sorted(glob.glob(sys.argv[2] + "/frames/*.h5"))]
times = [float(np.ravel(f["time"][()])[0]) for f in frames]
p = [f["meshes/liquid/vertices"][()] for f in frames]
v = [f["meshes/liquid/vertex_fields/velocity"][()] for f in frames]
kept = len(set(r["particles"])) == 1

def filled(frame):
    """Volume of what there is room for, in cells that are at least half full."""
    density, room = (frame["grid/fields/" + name][()] for name in ("density", "room"))
    return room[(density >= 0.5 * room) & (room > 0.05)].sum() * np.ravel(frame["grid/spacing"][()])[0] ** 3

def reached(x, z):
    """When the first particle stood within 5 m of a place of the ground."""
    for t, q in zip(times, p):
        if np.any((abs(q[:, 0] - x) < 5) & (abs(q[:, 2] - z) < 5)):
            return t
    return np.inf

def inside_blocks(q):
    blocks = [(262 + 36 * i, z) for i in range(6) for z in (6, 32, 58, 86, 112, 138)]
    return sum(np.count_nonzero((q[:, 0] > x) & (q[:, 0] < x + 20) & (q[:, 2] > z) & (q[:, 2] < z + 16) & (q[:, 1] < 24)) for x, z in blocks)

def ground(q):
    return 3.6 - 0.1 * q[:, 0] + 3 * (1 - np.exp(-(((q[:, 2] - 10 - 3 * np.sin(q[:, 0] / 3.5)) / 3.2) ** 2)))

def along_valley():
    """Of the last frame, in pieces of 2 m: how the middle of the water goes with that of the valley."""
    starts = range(0, 20, 2)
    middles = [np.mean(p[-1][(p[-1][:, 0] > x) & (p[-1][:, 0] < x + 2), 2]) for x in starts]
    return np.corrcoef(middles, [3 * np.sin((x + 1) / 3.5) for x in starts])[0, 1]

def at(time):
    """The number of the frame nearest to a time."""
    return int(np.argmin([abs(t - time) for t in times]))

def in_cell(frame):
    """Of each particle of a frame: how many are in its cell."""
    cells = np.floor(p[frame] / np.ravel(frames[frame]["grid/spacing"][()])[0]).astype(int)
    _, cell, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    return count[np.ravel(cell)]

def falling(frame):
    """Of a fountain: how far what falls is from the axis, and the share of it that is alone or nearly so."""
    down = v[frame][:, 1] < 0
    way = np.hypot(p[frame][:, 0] - 1.25, p[frame][:, 2] - 1.25)[down]
    return np.sqrt((way**2).mean()), (in_cell(frame)[down] <= 2).mean()

def quadrants(frame):
    """Mean height of what is in each quarter of the floor."""
    q = p[frame]
    return np.array([q[((q[:, 0] < 5) == a) & ((q[:, 2] < 5) == b), 1].mean() for a in (True, False) for b in (True, False)])

def plume(time, x, z):
    """How many particles near a place rise above one and a half times the depth."""
    q, u = p[at(time)], v[at(time)]
    return np.count_nonzero((np.hypot(q[:, 0] - x, q[:, 2] - z) < 0.9) & (q[:, 1] > 1.5 * 1.25) & (u[:, 1] > 1))

def sheet(frame):
    """Of what has left the axis of two streams: thickness along it, spread across it (roots of mean squares)."""
    q = p[frame][np.hypot(p[frame][:, 1] - 2.2, p[frame][:, 2] - 2) > 0.7]
    return q[:, 0].std(), q[:, 2].std()

if not eval(sys.argv[1]):
    print(sys.argv[1], {key: r[key][-1] for key in r})
    sys.exit(1)
END
holds() { "$python" claims.py "$@"; }

for way in unilateral bilateral; do
  millrace 1 run "$inputs/fountain.yaml" -o "$way" --set let.full=0 --set run.end_time=1.4 --set run.frame_interval=0.2 --set "splash.incompressibility=$way" > log 2>&1 || cat log
done
printf 'far, alone = %s\n' "$("$python" claims.py 'print(repr(tuple(map(float, falling(-1))))) or True' bilateral)" > other
ok "a fountain whose pressure only pushes comes apart as it falls: half as much again of it" \
  holds "(lambda far, alone: falling(-1)[1] > 1.5 * alone and falling(-1)[0] > 1.1 * far)(*$(cut -d= -f2 other))" unilateral
ok "it only pushes" holds 'r["pressure_min"].min() == 0' unilateral
ok "the incompressible one is held together" holds 'r["pressure_min"].min() < 0' bilateral
ok "both rise as high as the jet carries" holds 'r["highest_y"].max() > 0.9 * (0.2 + 8**2 / 2 / 9.81)' bilateral

ok "four dams" millrace 1 run "$inputs/quadruple-dam.yaml" -o four --set grid.resolution=25 --set run.end_time=1.3 --set run.frame_interval=0.1
ok "meet in the middle and splash higher than they stood" \
  holds 'max(q[np.hypot(q[:, 0] - 5, q[:, 2] - 5) < 1.5, 1].max(initial=0) for q in p) > 1.2 * 5' four
ok "alike in all four quarters, within 5 % of their height" holds 'all(np.ptp(quadrants(f)) < 0.05 * quadrants(f).mean() for f in range(len(p)))' four

ok "two streams" millrace 1 run "$inputs/colliding-streams.yaml" -o streams --set grid.resolution=30 --set run.end_time=0.5 --set run.frame_interval=0.5
ok "spread into a sheet five times as wide as it is thick" holds 'sheet(-1)[1] > 5 * sheet(-1)[0]' streams
ok "with no momentum along them" holds 'all(abs(r["momentum_x"]) <= 1e-2 * 10 * r["mass"])' streams

ok "three explosions" millrace 1 run "$inputs/underwater-explosions.yaml" -o bursts --set grid.resolution=20 --set run.end_time=1.6 --set run.frame_interval=0.1
ok "each throws up a plume by half the depth" \
  holds 'all(plume(t + 0.2, x, z) > 20 and plume(t + 0.2, x, z) > 2 * plume(t, x, z) for t, x, z in ((0.1, 1.5, 1.5), (0.7, 3.5, 2.5), (1.3, 2, 3.5)))' bursts
ok "pressure only pushes, and no particle is lost" holds 'r["pressure_min"].min() >= 0 and kept' bursts

ok "a city is flooded" millrace 1 run "$inputs/city-flood.yaml" -o city --set grid.resolution=50 --set run.end_time=12
ok "no particle is lost" holds kept city
ok "its street is wet in the order of distance, to the end" \
  holds '(lambda t: t == sorted(t) and t[-1] <= 12)([reached(x, 80) for x in (240, 290, 326, 362, 398, 434, 490)])' city
ok "nothing is inside the blocks" holds 'all(inside_blocks(q) == 0 for q in p[1:])' city

ok "water and bodies fall into a pool" millrace 1 run "$inputs/falling-objects.yaml" -o fall --set grid.resolution=25 --set run.frame_interval=0.5
ok "no particle is lost, and none is outside the pool" holds 'kept and all(np.hypot(q[:, 0] - 5, q[:, 2] - 5).max() <= 4.5 + 1e-5 for q in p)' fall
ok "its depth is that of its volume, within 2 %" \
  holds 'abs(np.mean([filled(f) for f in frames[-5:]]) / (r["mass"][0] / 1000) - 1) < 0.02' fall
ok "the stone sinks and the buoy floats" holds 'abs(r["position_stone_y"][-1] - 0.5) < 0.02 and 2 < np.mean(r["position_buoy_y"][-20:]) < 3' fall
ok "no particle stays caught in them" holds 'r["caught"].mean() < 0.2 and r["caught"][-1] == 0' fall

ok "a dam breaks above a valley" millrace 1 run "$inputs/dam-terrain.yaml" -o terrain --set grid.resolution=39 --set run.frame_interval=0.25
foretold=$(millrace 1 check "$inputs/dam-terrain.yaml" --set grid.resolution=39 | sed -n 's/^particles *about \([^ ]*\) .*/\1/p')
ok "it begins with as many particles as check foretells, within a tenth" holds "abs($foretold / r['particles'][0] - 1) < 0.1" terrain
ok "what leaves is counted" holds 'r["particles_left"].sum() + r["particles"][-1] == r["particles"][0] > r["particles"][-1]' terrain
ok "nothing is below the terrain" holds 'all((q[:, 1] > ground(q) - 1e-4).all() for q in p)' terrain
ok "the flood follows the valley" holds 'along_valley() > 0.8' terrain
ok "and stays within the density" holds 'max(r["density_corrected"]) <= 1.001' terrain
plan
