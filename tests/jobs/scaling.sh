#!/usr/bin/env bash
# Strong and weak scaling studies, run here on one and two ranks. TAP.
. "$MILLRACE_SOURCE/tests/jobs/support.sh"
command -v python3 > /dev/null || skip_all "python3 is missing (Debian: python3)"

small=(--ranks 1,2 --repeats 1 --steps 6 --skip 2 --local --set grid.resolution=16)

# efficiency in the table is that of the ledgers, by a second way
efficiency_is_right() {
  "$(command -v python3)" - "$1" "$2" << 'END'
import csv, statistics, sys
study, weight = sys.argv[1], float(sys.argv[2])
times = []
for ranks in 1, 2:
    rows = csv.DictReader(open(f"{study}/ranks-{ranks:05d}-1/ledger.csv"))
    steps = [float(row["wall_step"]) for row in rows if int(float(row["step"])) >= 3]
    assert len(steps) == 4, f"{len(steps)} steps count"
    times.append(statistics.median(steps))
    assert times[-1] > 0
last = list(csv.DictReader(open(f"{study}/scaling.csv")))[-1]
expected = times[0] / times[1] * weight / 2
assert abs(float(last["efficiency"]) / expected - 1) < 1e-9, f"{last['efficiency']} is not {expected}"
END
}

echo "1..8"
ok "a strong study runs" "$jobs/scaling/strong" "$scene" -o strong "${small[@]}"
ok "its efficiency is that of its ledgers" efficiency_is_right strong 1
ok "it leaves a table" grep -q '^| 2 | 1 |' strong/scaling.md
ok "a weak study runs" "$jobs/scaling/weak" "$scene" -o weak "${small[@]}" --multiple 2
# 16^2 cells on one rank; twice as many would be 22.6^2
ok "its resolution grows with the ranks" grep -q '^| 2 | 22 |' weak/scaling.md
ok "its efficiency is that of its ledgers" efficiency_is_right weak "$(awk 'BEGIN {printf "%.17g", 22 * 22 / 16 / 16}')"
ok "a coupled scene scales too" "$jobs/scaling/strong" "$here/spheres.yaml" -o coupled "${small[@]}"
ok "its efficiency is that of its ledgers" efficiency_is_right coupled 1
