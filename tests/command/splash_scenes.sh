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

if not eval(sys.argv[1]):
    print(sys.argv[1], {key: r[key][-1] for key in r})
    sys.exit(1)
END
holds() { "$python" claims.py "$@"; }

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
ok "no particle is caught in them" holds 'max(r["caught"]) <= 2' fall

ok "a dam breaks above a valley" millrace 1 run "$inputs/dam-terrain.yaml" -o terrain --set grid.resolution=39 --set run.frame_interval=0.25
ok "what leaves is counted" holds 'r["particles_left"].sum() + r["particles"][-1] == r["particles"][0] > r["particles"][-1]' terrain
ok "nothing is below the terrain" holds 'all((q[:, 1] > ground(q) - 1e-4).all() for q in p)' terrain
ok "the flood follows the valley" holds 'along_valley() > 0.8' terrain
ok "and stays within the density" holds 'max(r["density_corrected"]) < 1.01' terrain
plan
