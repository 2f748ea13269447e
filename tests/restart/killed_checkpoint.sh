#!/usr/bin/env bash
# kill -9 at every stage of writing a checkpoint: the restart finds the previous one, or the new one once it has
# its name, and the directory is left without temporaries. TAP.
if [ "$HAVE_CMOCKA" = no ]; then
  echo "1..0 # SKIP the programs of the tests are not built without cmocka"
  exit 0
fi
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
number=0

run() { timeout 60 "$MPIEXEC" $MPIEXEC_FLAGS -n "$1" "$MILLRACE_BUILD/tests/restart/killed_checkpoint" "${@:2}"; }

check() { # RANKS POINT STEP
  local directory=$runs/$2-$1 found left status
  number=$((number + 1))
  run "$1" "$directory" "$2" > "$runs/log" 2>&1
  status=$?
  found=$(run 1 "$directory" restart 2>> "$runs/log")
  left=$(find "$directory" -name '*.tmp' -o -name 'run.lock')
  if [ "$found" = "$3" ] && [ -z "$left" ] && { [ "$2" = never ] || [ $status -ne 0 ]; } && [ $status -ne 124 ]; then
    echo "ok $number - killed at \"$2\" on $1 ranks, step $3 is found"
  else
    echo "not ok $number - killed at \"$2\" on $1 ranks: status $status, found \"$found\" not $3, left \"$left\""
    sed 's/^/# /' "$runs/log"
  fi
}

echo 1..10
for point in created half written synced before-rename; do
  check 2 "$point" 10
done
check 2 after-rename 20
check 2 never 20
check 1 half 10
check 1 before-rename 10
check 4 half 10
