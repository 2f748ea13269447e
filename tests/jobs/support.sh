# Sourced by the tests of jobs/: TAP, a directory to work in, the private Slurm.
. "$MILLRACE_SOURCE/tests/support/tap.sh"

here=$MILLRACE_SOURCE/tests/jobs
jobs=$MILLRACE_SOURCE/jobs
export MILLRACE=${MILLRACE:-$MILLRACE_BUILD/millrace}
scene=$here/cavity.yaml
# the suite itself may be a job of another Slurm
unset ${!SLURM_*} ${!SBATCH_*} ${!SRUN_*}

work=$(mktemp -d "${TMPDIR:-/tmp}/millrace-jobs.XXXXXX") || exit 1
chmod 755 "$work"
clean_up() {
  [ -d "$work/slurm" ] && "$here/cluster" stop "$work/slurm"
  cd / && rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1

# wait_until SECONDS COMMAND...
wait_until() {
  local end=$((SECONDS + $1))
  shift
  until "$@" > /dev/null 2>&1; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.1
  done
}

# A python that has the module: the distribution's own, or that in PATH.
python_with() {
  local python
  for python in /usr/bin/python3 python3; do
    "$python" -c "import $1" > /dev/null 2>&1 && echo "$python" && return
  done
  return 1
}

start_slurm() {
  local missing
  missing=$("$here/cluster" missing)
  [ -z "$missing" ] || skip_all "no private Slurm: ${missing//$'\n'/, }"
  "$here/cluster" start "$work/slurm" $$ > "$work/start.log" 2>&1 || {
    sed 's/^/# /' "$work/start.log"
    echo "Bail out! the private Slurm does not start"
    exit 1
  }
  export SLURM_CONF=$work/slurm/slurm.conf
  # both virtual nodes are one machine, and would share the names of Open MPI's shared memory
  export OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
  # programs start here as they do in a cluster
  unset OMPI_MCA_pml
}

# submit [sbatch options] SCRIPT ARGUMENTS...: the number of the job
submit() { sbatch --parsable "$@"; }

rows() { wc -l < "$1/ledger.csv" 2> /dev/null || echo 0; }
has_rows() { [ "$(rows "$1")" -gt "$2" ]; }

# signal JOB DIR: warn the job, as Slurm does before the time limit, when some steps are done
signal() {
  wait_until 60 has_rows "$2" 5 && scancel -b -s USR1 "$1"
}

is_over() { [ -z "$(squeue -h -j "$1" 2> /dev/null)" ]; }
wait_for() { wait_until "${2:-90}" is_over "$1"; }

# field JOB NAME: from Slurm's record, which outlives the job by minutes
field() { scontrol show job -o "$1" | tr ' ' '\n' | sed -n "s/^$2=//p"; }

# ends_with JOB CODE LOG: waits for the job
ends_with() {
  wait_for "$1" || echo "job $1 does not end"
  local code
  code=$(field "$1" ExitCode)
  [ "$code" = "$2:0" ] && return
  echo "exit code $code, expected $2:0"
  cat "$3"
  return 1
}
