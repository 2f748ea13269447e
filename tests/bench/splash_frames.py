#!/usr/bin/env python3
"""Scenes of splashing liquid at the sizes of Table 3.1 of Gerszewski 2014, beside the seconds for one frame
(1/30 s) of its Table 3.2.

    tests/bench/splash_frames.py MILLRACE [--ranks N] [--until T] [SCENE...]

Wall clock of the parts of a step, from the ledger, and the processor time of all ranks (with that of the
last frame), for each 1/30 s; and the most cycles and set-ups of a solve. MILLRACE is the program; a machine with
nothing else to do tells most."""
import argparse
import csv
import os
import resource
import subprocess
import tempfile

# total, solve, extrapolate, advect, raster
TABLE = {
    "city-flood": (75.6, 35.3, 1.5, 23.5, 14.4),
    "fountain": (7.8, 5.1, 0.8, 0.7, 0.7),
    "dam-obstacle": (21.7, 5.2, 0.5, 9, 6.8),
    "quadruple-dam": (118.5, 54.2, 2.7, 30.3, 29.9),
    "falling-objects": (81.6, 52.1, 4.6, 12.4, 10.2),
    "dam-terrain": (556, 470, 12.6, 39.1, 28.7),
    "underwater-explosions": (20, 11.3, 0.3, 4.2, 4),
}
# s, in which most happens
SPANS = {
    "city-flood": (0, 3),
    "fountain": (0, 0.5),
    "dam-obstacle": (0, 0.4),
    "quadruple-dam": (0, 0.5),
    "falling-objects": (0, 0.5),
    "dam-terrain": (0, 0.5),
    "underwater-explosions": (0, 0.3),
}
COLUMNS = ("wall_step", "wall_solve", "wall_extrapolate", "wall_move", "wall_raster")


def run(arguments, scene, until):
    """Rows of its ledger, and processor time for all steps but the first."""
    inputs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../inputs/splash")
    times = []
    with tempfile.TemporaryDirectory() as directory:
        for end in ([f"run.end_time={until}", "run.step_limit=1"], [f"run.end_time={until}"]):
            out = os.path.join(directory, str(len(times)))
            command = ["mpiexec", "-n", str(arguments.ranks)] if arguments.ranks > 1 else []
            command += [arguments.millrace, "run", os.path.join(inputs, scene + ".yaml"), "-o", out]
            for override in ["let.full=1", f"run.frame_interval={until}", *end]:
                command += ["--set", override]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        with open(os.path.join(out, "ledger.csv"), encoding="ascii") as file:
            return list(csv.DictReader(file)), times[1] - times[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("millrace")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--until", type=float)
    parser.add_argument("scenes", nargs="*", default=list(TABLE), metavar="SCENE")
    arguments = parser.parse_intermixed_args()
    print(f"{'s for 1/30 s':22} {'particles':>10} {'steps':>5} {'cpu':>7}   total   solve  extend    move  raster, "
          "then those of Table 3.2 and its total over ours, wall and cpu; cycles, set-ups")
    for scene in arguments.scenes:
        until = arguments.until or SPANS[scene][1]
        rows, processor = run(arguments, scene, until)
        frames = 30 * (until - float(rows[1]["time"]))
        wall = [sum(float(row[name]) for row in rows[2:]) / frames for name in COLUMNS]
        most = [max(float(row[solve + what]) for row in rows[2:] for solve in ("correction_", "pressure_"))
                for what in ("cycles", "set_ups")]
        theirs = TABLE[scene]
        print(f"{scene:22} {int(float(rows[-1]['particles'])):10} {len(rows) - 1:5} {processor / frames:7.2f} ",
              *(f"{w:7.2f}" for w in wall), " |", *(f"{t:6.1f}" for t in theirs),
              f" | {theirs[0] / wall[0]:6.1f} {theirs[0] / (processor / frames):6.1f}",
              f" | {most[0]:3.0f} {most[1]:3.0f}", flush=True)


if __name__ == "__main__":
    main()
