#!/usr/bin/env bash
# jobs/run.sbatch, array.sbatch and chain against a real Slurm with two virtual nodes. TAP.
. "$MILLRACE_SOURCE/tests/jobs/support.sh"
start_slurm
python=$(python_with h5py)
case $("$MPIEXEC" --version 2>&1) in
*"Open MPI"* | *OpenRTE*) pmi=pmix ;;
*) pmi=pmi2 ;;
esac

log_of() { echo "millrace-$1.log"; }
starts() { grep -c '] .* into ' "$(log_of "$1")"; }

same_as_reference() {
  if [ -z "$python" ]; then
    skip "$1" "h5py is missing (Debian: python3-h5py)"
  else
    ok "$1" "$python" "$here/same_answer.py" reference "$2"
  fi
}

was_requeued() {
  [ "$(starts "$1")" = 2 ] && [ "$(field "$1" Restarts)" = 1 ] && grep -q 'from checkpoint-' "$(log_of "$1")" && return
  cat "$(log_of "$1")"
  return 1
}

# The end time that takes this machine some five seconds, so that a signal comes neither too late nor for nothing.
five_seconds() {
  awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) column[$i] = i; next}
    $1 > 0 {wall += $column["wall_step"]; dt = $column["dt"]; steps++}
    END {n = int(5 * steps / wall); print dt * (n < 100 ? 100 : n > 4000 ? 4000 : n)}' "$1/ledger.csv"
}

leaves_nothing() {
  local left
  left=$(ls -d "$1"* 2> /dev/null)
  [ -z "$left" ] && return
  echo "left: $left"
  return 1
}

says() {
  grep -q -- "$2" "$(log_of "$1")" && return
  echo "expected: $2"
  cat "$(log_of "$1")"
  return 1
}

reads() {
  local found
  found=$("$python" -c "import h5py, sys; print(h5py.File(sys.argv[1])['scene'][()].decode())" "$1/frames/frame-000000.h5")
  grep -q "$2" <<< "$found" && return
  echo "$found"
  return 1
}

is_dead() { ! "$here/cluster" status "$1" | grep ' lives'; }
orphan_stops() {
  sleep 2 &
  "$here/cluster" start "$work/orphan" $! && wait_until 20 is_dead "$work/orphan"
}

echo "1..41"

# Ranks are started by srun on two nodes, by mpiexec on one.
by_srun="srun --mpi=$pmi"
probe=$(LAUNCH=$by_srun submit -N 2 -n 2 "$jobs/run.sbatch" "$scene" probe --set run.step_limit=40)
ok "a run ends with 0" ends_with "$probe" 0 "$(log_of "$probe")"
long=(--set "run.end_time=$(five_seconds probe)")

reference=$(LAUNCH=$by_srun submit -N 2 -n 2 "$jobs/run.sbatch" "$scene" reference "${long[@]}")
by_srun_job=$(LAUNCH=$by_srun submit -N 2 -n 2 "$jobs/run.sbatch" "$scene" by_srun "${long[@]}")
chain=$("$jobs/chain" 3 -n 2 -- "$scene" chained "${long[@]}")
read -rd '' first second third <<< "$chain"
signal "$by_srun_job" by_srun
signal "$first" chained
bad=$(submit -n 1 "$jobs/run.sbatch" missing.yaml bad)

ok "a longer one does" ends_with "$reference" 0 "$(log_of "$reference")"
ok "a signalled job under srun on two nodes ends with 0" ends_with "$by_srun_job" 0 "$(log_of "$by_srun_job")"
ok "it was requeued once and went on from its checkpoint" was_requeued "$by_srun_job"
same_as_reference "its answer is that of a run that was not stopped" by_srun
ok "it leaves no note of its requeues" leaves_nothing "by_srun.job"

ok "the first link of a chain stops with 85" ends_with "$first" 85 "$(log_of "$first")"
ok "the second goes on and ends with 0" ends_with "$second" 0 "$(log_of "$second")"
ok "it went on from the checkpoint of the first" says "$second" 'from checkpoint-'
ok "the third finds the run done" ends_with "$third" 0 "$(log_of "$third")"
same_as_reference "the answer of the chain is that of one run" chained

ok "a missing scene ends the job with 2" ends_with "$bad" 2 "$(log_of "$bad")"
ok "it is not requeued" [ "$(field "$bad" Restarts)" = 0 ]
ok "it leaves nothing" leaves_nothing bad

# The same where Slurm requeues what exits with 85 by itself.
echo RequeueExit=85 >> "$SLURM_CONF"
scontrol reconfigure
by_mpiexec=$(LAUNCH=$MPIEXEC submit -N 1 -n 2 "$jobs/run.sbatch" "$scene" by_mpiexec "${long[@]}")
signal "$by_mpiexec" by_mpiexec

# Over the results of the probe, whose last checkpoint must not be taken for one of its own; and stopped by hand.
over=$(LAUNCH=$by_srun submit -N 2 -n 2 "$jobs/run.sbatch" "$scene" probe --overwrite "${long[@]}")
cancelled=$(LAUNCH=$by_srun submit -N 2 -n 2 "$jobs/run.sbatch" "$scene" cancelled "${long[@]}")
wait_until 240 [ ! -e probe/checkpoints/checkpoint-00000040.h5 ]
signal "$over" probe
wait_until 240 has_rows cancelled 5 && scancel "$cancelled"
wait_for "$cancelled"
again=$(LAUNCH=$by_srun submit -N 2 -n 2 "$jobs/run.sbatch" "$scene" cancelled "${long[@]}")

cat > table << END
# resolution and viscosity
grid.resolution=16 run.end_time=0.05

"grid.resolution=24" fluid.viscosity=0.02 run.end_time=0.05
grid.resolution=20 "fluid.gravity=[0, -1, 0]" run.end_time=0.05
END
# several at once, each by mpiexec alone: its daemons, started by srun on virtual nodes, now and then meet and fail
array=$(OMPI_MCA_ras=^slurm OMPI_MCA_plm=isolated submit -n 1 --array=1-3 "$jobs/array.sbatch" "$scene" study table)
beyond=$(submit -n 1 --array=4 "$jobs/array.sbatch" "$scene" study table)

# A program that is stopped before its first checkpoint, each time, and like millrace refuses the results of another run.
printf '#!/bin/sh\n[ -e stuck_run ] && exit 2\nmkdir stuck_run\nexit 85\n' > stuck
chmod +x stuck
stuck=$(MILLRACE=$work/stuck MAX_STALLS=2 submit -n 1 "$jobs/run.sbatch" "$scene" stuck_run)

"$jobs/scaling/strong" "$scene" -o scaling --ranks 1,2 --repeats 1 --steps 6 --set grid.resolution=16 > scaling.log 2>&1
scaling=$(sed -n 's/.*; job \([0-9]*\) collects.*/\1/p' scaling.log)

# MPICH under the wrong --mpi starts singletons without a word; Open MPI does so when it cannot see the step.
printf '#!/bin/sh\nshift 2\nexec srun --mpi=none env -u SLURM_STEP_ID -u SLURM_STEPID "$@"\n' > alone
printf '#!/bin/sh\nshift 2\nexec %s -n 1 "$@"\n' "$MPIEXEC" > one_rank
chmod +x alone one_rank
singletons=$(LAUNCH=$work/alone submit -n 2 "$jobs/run.sbatch" "$scene" singletons)
few=$(LAUNCH=$work/one_rank submit -n 2 "$jobs/run.sbatch" "$scene" few)

ok "a signalled job under mpiexec ends with 0" ends_with "$by_mpiexec" 0 "$(log_of "$by_mpiexec")"
ok "it was requeued once, not twice" was_requeued "$by_mpiexec"
same_as_reference "its answer is that of the run under srun" by_mpiexec

ok "a job that overwrites starts afresh, is signalled and ends with 0" ends_with "$over" 0 "$(log_of "$over")"
ok "it was requeued once and went on from its own checkpoint" was_requeued "$over"
same_as_reference "its answer is that of a run in a new directory" probe
ok "the same command takes up a run that was cancelled" ends_with "$again" 0 "$(log_of "$again")"
ok "it goes on from its checkpoint" says "$again" 'from checkpoint-'
same_as_reference "its answer is that of one run" cancelled

wait_for "$array"
for case in 1 2 3; do
  ok "case $case of an array ends with 0" ends_with "${array}_$case" 0 "millrace-${array}_$case.log"
done
# the last task has this number for its own, and once could not find run.sbatch by it
ok "the number of an array stands for all of its tasks" [ "$(scontrol show job -o "$array" | wc -l)" = 3 ]
ok "case 4, which the table has not, ends with 2" ends_with "${beyond}_4" 2 "millrace-${beyond}_4.log"
ok "and says so" grep -q "table has no case 4" "millrace-${beyond}_4.log"
if [ -n "$python" ]; then
  ok "case 2 has its settings" reads study/2 'resolution: 24'
else
  skip "case 2 has its settings" "h5py is missing (Debian: python3-h5py)"
fi

ok "a job without a new checkpoint gives up with 1" ends_with "$stuck" 1 "$(log_of "$stuck")"
ok "it has tried twice" [ "$(starts "$stuck")$(field "$stuck" Restarts)" = 22 ]
ok "what the first try left is put aside" [ -d stuck_run.start-1 ]

ok "singletons instead of ranks are refused with 2" ends_with "$singletons" 2 "$(log_of "$singletons")"
ok "the message names SLURM_NTASKS" says "$singletons" 'SLURM_NTASKS'
ok "they write nothing" leaves_nothing singletons
ok "fewer ranks than tasks are refused with 2" ends_with "$few" 2 "$(log_of "$few")"

ok "a scaling study collects itself" ends_with "${scaling:-none}" 0 scaling/logs/collect.log
ok "its table has all ranks" [ "$(grep -c '^| [12] | 1 |' scaling/scaling.md)" = 2 ]

"$here/cluster" stop "$work/slurm"
ok "the private Slurm stops" is_dead "$work/slurm"
ok "one whose owner dies stops by itself" orphan_stops
