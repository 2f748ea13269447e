#!/bin/sh
# Builds the examples against the installed library and runs them: `make installcheck`.
# check.sh EXAMPLES PKGCONFIG PREFIX: PKGCONFIG has millrace.pc, which is read as if it had been configured for PREFIX, where
# DESTDIR has put things. Uses CC, MPIEXEC, MPIEXEC_FLAGS, PKG_CONFIG and LD_LIBRARY_PATH.
set -eu
examples=$1 pkgconfig=$2 prefix=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
say() { echo "installcheck: $*"; }
fail() { say "$*" >&2; exit 1; }

sed "s|^prefix=.*|prefix=$prefix|" "$pkgconfig/millrace.pc" > "$scratch/millrace.pc"
flags=$(PKG_CONFIG_PATH="$scratch:${PKG_CONFIG_PATH:-}" ${PKG_CONFIG:-pkg-config} --cflags --libs millrace) || fail "pkg-config does not find millrace"
for name in falling_ball vortex; do
  # shellcheck disable=SC2086 # several words each
  ${CC:-mpicc} -Wall -Wextra -Werror "$examples/$name.c" $flags -o "$scratch/$name" || fail "$name does not build"
done

cd "$scratch"
# shellcheck disable=SC2086
${MPIEXEC:-mpiexec} ${MPIEXEC_FLAGS:-} -n 2 ./falling_ball "$examples/falling_ball.yaml" > ball || fail "falling_ball failed"
awk '{steps++; if ($8 >= 0 || $5 >= last && steps > 1) up = 1; last = $5} END {exit !(steps == 5 && !up)}' ball ||
  { cat ball; fail "the ball did not sink in five steps"; }
./falling_ball "$examples/falling_ball.yaml" run.end_tim=1 2> errors > /dev/null && fail "a mistake in a key was not refused"
grep -q 'did you mean "end_time"' errors || { cat errors; fail "a mistake in a key was not explained"; }
./vortex > energies || fail "vortex failed"
awk '{if (NR > 1 && $6 >= last) up = 1; last = $6} END {exit !(NR == 4 && last > 0 && !up)}' energies ||
  { cat energies; fail "the vortex did not decay"; }
say "the examples build against the installed library and run"
