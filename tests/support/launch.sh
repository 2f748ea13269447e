#!/bin/sh
# launch.sh path/test_x.N.np: run path/test_x on N ranks and pass its TAP on.
# launch.sh path/test_x.sh:   the same for a script.
# Its last lines say how long it took and what it used of the processors; `make slowest` reads that.
limit_of() { # PROGRAM
  case $1 in
  */validation/*) limit=3600 ;;
  *.sh) limit=900 ;;
  */verification/*) limit=600 ;;
  *) limit=120 ;;
  esac
  [ "$SANITIZERS" != yes ] || limit=$((limit * 10))
  echo "${TEST_TIMEOUT:-$limit}"
}

start=$(date +%s.%N)
took() {
  date +%s.%N | awk -v start="$start" '{printf "# took %.1f s\n", $1 - start}'
  # The second line of `times` is user and system time of all processes that have ended, as 1m23.45s. A pipe
  # would have a shell of its own, with children of its own.
  times_file=$(mktemp) && times > "$times_file" &&
    awk -F '[ ms]+' 'NR == 2 {printf "# used %.1f s of processor time\n", 60 * ($1 + $3) + $2 + $4}' "$times_file"
  rm -f "$times_file"
}

if [ "${1%.np}" = "$1" ]; then
  timeout -k 10 "$(limit_of "$1")" "${BASH_SHELL:-bash}" "$1"
  status=$?
  took
  exit $status
fi

entry=${1%.np}
program=${entry%.*}
ranks=${entry##*.}

if [ "$HAVE_CMOCKA" = no ]; then
  echo "1..0 # SKIP cmocka was not found by configure (Debian: libcmocka-dev)"
  exit 0
fi

# cmocka 1.1.5 writes "not ok 3 # SKIP", which TAP counts as a failure. The status of the program goes through
# a file because a pipe in sh only keeps that of sed.
limit=$(limit_of "$program")
status_file=$entry.status
launcher="$MPIEXEC $MPIEXEC_FLAGS -n $ranks"
[ "$ranks" -gt 1 ] || launcher= # needs none
{
  timeout -k 10 "$limit" $launcher "$program"
  echo $? > "$status_file"
} | sed 's/^not ok \(.*# SKIP\)/ok \1/'
status=$(cat "$status_file")
rm -f "$status_file"
took

if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
  echo "Bail out! $program on $ranks ranks was stopped after $limit s"
fi
exit "$status"
