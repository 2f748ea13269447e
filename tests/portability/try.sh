#!/usr/bin/env bash
# The tree in other surroundings, on demand: tests/portability/try.sh [WHAT...] with WHAT one of
#
#   clang      clang instead of gcc
#   user       an ordinary user without root, in a directory of its own
#   mpich      MPICH instead of Open MPI: needs mpicc.mpich and PETSC_DIR with a PETSc that was built by it
#   bookworm, trixie    a fresh Debian 12 or 13 in a chroot, by debootstrap: needs root and a network; takes an hour
#
# and all of the first three without any. Each is configured, built with -Werror where the compiler is known, and tested by
# `make check`, or by TESTS="tests/unit/test_grid.2.np ..." of the environment; the chroots then get what that needs, without
# ParaView and Slurm, and take a quarter of an hour. Last lines: "clang: passes", "mpich: skipped (why)".
set -u
source=$(cd "$(dirname "$0")/../.." && pwd)
user=
work=$(mktemp -d)
trap 'for root in "$work"/*/proc; do umount_all "${root%/proc}"; done; rm -rf --one-file-system "$work"' EXIT
jobs=$(nproc 2> /dev/null || echo 2) # before OMP_NUM_THREADS, which it heeds
export MILLRACE_SOURCE=$source
. "$source/tests/support/environment.sh"
results=()

# What git knows, and what is new and not ignored; without what was built.
copy_tree() { (cd "$source" && git ls-files -co --exclude-standard -z | xargs -0 tar -cf - 2> /dev/null) | tar -xf - -C "$1"; }

# build_and_check DIRECTORY RUNNER -- CONFIGURE ARGUMENTS...: in a copy of the tree, each command started by RUNNER.
build_and_check() {
  local directory=$1 runner=()
  shift
  while [ "$1" != -- ]; do
    runner+=("$1")
    shift
  done
  shift
  mkdir -p "$directory/build" && copy_tree "$directory" || return 1
  chmod -R a+rX "$directory"
  [ "${#runner[@]}" = 0 ] || chown -R "$user" "$directory"
  write_steps "$directory"
  jobs=$jobs TESTS=${TESTS:-} "${runner[@]}" bash "$directory/steps.sh" "$@"
}

write_steps() { # DIRECTORY
  cat > "$1/steps.sh" << 'END'
cd "$(dirname "$0")" || exit 1
autoreconf -fi > autoreconf.log 2>&1 || { tail -n 20 autoreconf.log; exit 1; }
cd build && ../configure "$@" > configure.log 2>&1 || { tail -n 20 configure.log; exit 1; }
make -s -j"$jobs" all > make.log 2>&1 || { grep -E 'error|warning' make.log | head -n 20; exit 1; }
programs=$(for t in ${TESTS:-}; do case $t in *.np) echo "${t%.*.np}" ;; esac; done | sort -u | tr '\n' ' ')
make -s -k -j"$jobs" check ${TESTS:+TESTS="$TESTS" check_PROGRAMS="$programs"} > check.log 2>&1 && exit 0
grep -E '^(FAIL|ERROR|# (TOTAL|PASS|FAIL|ERROR))' check.log | head -n 40
exit 1
END
}

told() { results+=("$1"); printf '%s\n' "portability: $1"; }
judge() { # NAME COMMAND...
  if "${@:2}"; then told "$1: passes"; else told "$1: FAILS"; fi
}

try_clang() {
  command -v clang > /dev/null || { told "clang: skipped (there is none)"; return; }
  OMPI_CC=clang MPICH_CC=clang judge clang build_and_check "$work/clang" -- --enable-werror ${PETSC_DIR:+PETSC_DIR="$PETSC_DIR"}
}

try_user() {
  user=${PORTABILITY_USER:-nobody}
  if [ "$(id -u)" != 0 ]; then
    judge user build_and_check "$work/user" -- ${PETSC_DIR:+PETSC_DIR="$PETSC_DIR"}
    return
  fi
  command -v setpriv > /dev/null || { told "user: skipped (setpriv is missing)"; return; }
  chmod 755 "$work"
  judge user build_and_check "$work/user" setpriv --reuid="$user" --clear-groups env -u OMPI_ALLOW_RUN_AS_ROOT -u CCACHE_DIR \
    HOME="$work/user" TMPDIR=/tmp -- --prefix="$work/user/installed"
}

try_mpich() {
  command -v mpicc.mpich > /dev/null || { told "mpich: skipped (mpicc.mpich is missing; Debian: libmpich-dev libhdf5-mpich-dev)"; return; }
  [ -n "${PETSC_DIR:-}" ] || { told "mpich: skipped (PETSC_DIR must name a PETSc that mpicc.mpich has built)"; return; }
  judge mpich build_and_check "$work/mpich" -- --enable-werror CC=mpicc.mpich MPIEXEC="$(command -v mpiexec.mpich)" PETSC_DIR="$PETSC_DIR" \
    PETSC_ARCH="${PETSC_ARCH:-}"
}

umount_all() { # ROOT
  local place
  for place in dev/pts dev sys proc; do
    ! mountpoint -q "$1/$place" || umount "$1/$place"
  done
}
in_debian() { # CODENAME
  local root=$work/$1
  debootstrap --variant=minbase "$1" "$root" > "$work/debootstrap.log" 2>&1 || { tail -n 5 "$work/debootstrap.log"; return 1; }
  mkdir -p "$root/millrace/build" && copy_tree "$root/millrace" || return 1
  local place
  for place in proc sys dev dev/pts; do # hwloc reads the second, tests of progress lines need a terminal of the last
    mount --bind "/$place" "$root/$place" || { umount_all "$root"; return 1; }
  done
  if [ -z "${TESTS:-}" ]; then
    chroot "$root" /millrace/bootstrap check > "$work/$1.log" 2>&1
  else
    write_steps "$root/millrace"
    { chroot "$root" /millrace/bootstrap deps && chroot "$root" apt-get -q -y install --no-install-recommends libcmocka-dev &&
      jobs=$jobs TESTS=$TESTS chroot "$root" bash /millrace/steps.sh; } > "$work/$1.log" 2>&1
  fi
  local code=$?
  umount_all "$root"
  [ $code = 0 ] || tail -n 40 "$work/$1.log"
  tail -n 1 "$work/$1.log"
  return $code
}
try_debian() {
  command -v debootstrap > /dev/null || { told "$1: skipped (debootstrap is missing)"; return; }
  [ "$(id -u)" = 0 ] || { told "$1: skipped (a chroot needs root)"; return; }
  judge "$1" in_debian "$1"
}

[ $# -gt 0 ] || set -- clang user mpich
for what in "$@"; do
  case $what in
  clang | user | mpich) try_"$what" ;;
  bookworm | trixie) try_debian "$what" ;;
  *) echo "try.sh: there is no \"$what\": clang, user, mpich, bookworm, trixie" >&2 && exit 2 ;;
  esac
done
printf '%s\n' "${results[@]}"
! grep -q FAILS <<< "${results[*]}"
