#!/usr/bin/env bash
# kill -9 at every stage of writing a checkpoint: the restart finds the previous one, or the new one once it has
# its name, and the directory is left without temporaries. TAP.
. "$MILLRACE_SOURCE/tests/support/tap.sh"

[ "$HAVE_CMOCKA" != no ] || skip_all "the programs of the tests are not built without cmocka"
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

run() { timeout 60 "$MPIEXEC" $MPIEXEC_FLAGS -n "$1" "$MILLRACE_BUILD/tests/restart/killed_checkpoint" "${@:2}"; }

finds() { # RANKS POINT STEP
  local directory=$runs/$2-$1 found left status
  run "$1" "$directory" "$2" > "$runs/log" 2>&1
  status=$?
  found=$(run 1 "$directory" restart 2>> "$runs/log")
  left=$(find "$directory" -name '*.tmp' -o -name 'run.lock')
  [ "$found" = "$3" ] && [ -z "$left" ] && { [ "$2" = never ] || [ $status -ne 0 ]; } && [ $status -ne 124 ] && return
  echo "status $status, found \"$found\", left \"$left\""
  cat "$runs/log"
  return 1
}

killed() { ok "killed at \"$2\" on $1 ranks, step $3 is found" finds "$@"; }

echo 1..10
for point in created half written synced before-rename; do
  killed 2 "$point" 10
done
killed 2 after-rename 20
killed 2 never 20
killed 1 half 10
killed 1 before-rename 10
killed 4 half 10
