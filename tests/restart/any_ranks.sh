#!/usr/bin/env bash
# Answers and iterations of the coupled solves and of the projection on any number of fluid ranks. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
need_h5py

# as_many A B: every count of iterations of B is that of A or beside it.
as_many() {
  "$python" - "$1/ledger.csv" "$2/ledger.csv" << 'END'
import csv, sys
a, b = ({k: v for k, v in zip(rows[0], zip(*rows[1:])) if k.endswith("_iterations")}
        for rows in (list(csv.reader(open(path))) for path in sys.argv[1:]))
apart = {k: max(abs(float(x) - float(y)) for x, y in zip(a[k], b[k])) for k in a}
print(apart)
sys.exit(not a or a.keys() != b.keys() or max(apart.values()) > 1)
END
}

# on_any SCENE WHAT [ARGUMENT...]: 5 and 7 ranks, in the long run all from 1 to 7.
on_any() {
  local ranks
  for ranks in 1 5 7 ${CHECK_LONG:+2 3 4 6}; do
    millrace $ranks run "$scenes/$1.yaml" -o "$1-$ranks" --set run.step_limit=3 "${@:3}" > log 2>&1 || cat log
    [ $ranks = 1 ] && continue
    ok "$2: $ranks ranks answer as one, to 1e-10" same "$1-1" "$1-$ranks" 1e-10
    ok "$2: in as many iterations, or one more or less" as_many "$1-1" "$1-$ranks"
  done
}

on_any both "bodies in a fluid" --set parallel.solid_ranks=0 --set grid.size=[2,1,1] --set grid.resolution=32
on_any surface "a free surface" --set grid.size=[2,1,1] --set grid.resolution=32
plan
