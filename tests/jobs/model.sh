#!/usr/bin/env bash
# The cost model of docs/scaling.md beside what PETSc counts in coupled steps here, on 1, 2, 3 and 4 ranks. TAP.
. "$MILLRACE_SOURCE/tests/jobs/support.sh"
command -v python3 > /dev/null || skip_all "python3 is missing (Debian: python3)"

spheres=$here/spheres.yaml
read -ra launch <<< "${MPIEXEC:-mpiexec} ${MPIEXEC_FLAGS:-}"

# count RANKS STEPS: runs and logs into RANKS-STEPS
count() {
  "${launch[@]}" -n "$1" "$MILLRACE" run "$spheres" -o "$1-$2" --set run.step_limit="$2" --set run.frame_interval=1 \
    -log_view ":$1-$2.log"
}

# as_predicted RANKS: steps 3 to 5
as_predicted() {
  count "$1" 2 && count "$1" 5 &&
    "$(command -v python3)" "$here/compare_counts.py" "$jobs" "$1" 3 "$1-2.log" "$1-5.log" "$1-5/ledger.csv"
}

# lines KIND OPTIONS...: a line for each of five numbers of ranks in each of two tables
lines() { [ "$("$jobs/scaling/model" "$@" | grep -c '^| [0-9]')" = 10 ]; }

echo "1..9"
for ranks in 1 2 3 4; do
  ok "messages and reductions on $ranks ranks are those predicted" as_predicted "$ranks"
done
ok "strong predictions" lines strong
ok "weak predictions" lines weak --regions
ok "another machine, no rank for the solids" lines weak --machine ndr --solid-ranks 0 --extra 0 --latency 1e-6
fewer() { "$jobs/scaling/model" solids | awk -F'|' '/^\| [0-9]/ {n++; bad += n > 1 && $10 + 0 > last; last = $10 + 0} END {exit bad || n != 7}'; }
ok "solids on 1 to 1024 ranks: efficiency falls" fewer
ok "a box with too few cells is refused" grep -q "too many" <("$jobs/scaling/model" strong --resolution 32 2>&1)
