#!/bin/sh
# launch.sh path/test_x.N.np: run path/test_x on N ranks and pass its TAP on.
entry=${1%.np}
program=${entry%.*}
ranks=${entry##*.}

if [ "$HAVE_CMOCKA" = no ]; then
  echo "1..0 # SKIP cmocka was not found by configure (Debian: libcmocka-dev)"
  exit 0
fi

case $program in
*/validation/*) limit=3600 ;;
*/verification/*) limit=600 ;;
*) limit=120 ;;
esac
[ "$SANITIZERS" != yes ] || limit=$((limit * 10))

# cmocka 1.1.5 writes "not ok 3 # SKIP", which TAP counts as a failure. The status of the program goes through
# a file because a pipe in sh only keeps that of sed.
status_file=$entry.status
start=$(date +%s)
{
  timeout -k 10 "${TEST_TIMEOUT:-$limit}" "$MPIEXEC" $MPIEXEC_FLAGS -n "$ranks" "$program"
  echo $? > "$status_file"
} | sed 's/^not ok \(.*# SKIP\)/ok \1/'
status=$(cat "$status_file")
rm -f "$status_file"
echo "# took $(($(date +%s) - start)) s"

if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
  echo "Bail out! $program on $ranks ranks was stopped after ${TEST_TIMEOUT:-$limit} s"
fi
exit "$status"
