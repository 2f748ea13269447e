#!/usr/bin/env bash
# The tree in other surroundings, on demand: tests/portability/try.sh [WHAT...] with WHAT one of
#
#   clang      clang instead of gcc
#   user       an ordinary user without root, in a directory of its own
#   mpich      MPICH instead of Open MPI: needs mpicc.mpich and PETSC_DIR with a PETSc that was built by it
#   bookworm, trixie    a fresh Debian 12 or 13 in a chroot, by debootstrap: needs root and a network; takes an hour
#
# and all of the first three without any. Each is tested by `./bootstrap check` in a copy of the tree, or by those tests
# alone that TESTS="tests/unit/test_grid.2.np ..." of the environment names. PORTABILITY_WORK=DIRECTORY keeps copies,
# builds and chroots there, so that another try only builds what has changed; logs are DIRECTORY/WHAT.log. Last lines:
# "clang: 3370 passed, 0 failed, 38 skipped", "mpich: skipped (why)".
set -u
source=$(cd "$(dirname "$0")/../.." && pwd)
work=${PORTABILITY_WORK:-$(mktemp -d)}
mkdir -p "$work" && work=$(cd "$work" && pwd) || exit 1
trap clean_up EXIT
mounted=() # roots of chroots
clean_up() {
  local root
  for root in "${mounted[@]}"; do umount_all "$root"; done
  [ -n "${PORTABILITY_WORK:-}" ] || rm -rf --one-file-system "$work"
}
results=()
told() { results+=("$1"); printf '%s\n' "portability: $1"; }

# What git knows, and what is new and not ignored; without what was built.
copy_tree() { # DIRECTORY
  mkdir -p "$1" && (cd "$source" && git ls-files -co --exclude-standard -z | xargs -0 tar -cf - 2> /dev/null) | tar -xf - -C "$1"
}

# check WHAT RUNNER...: RUNNER is what starts bootstrap. What failed is told before the counts.
check() {
  local tests
  read -ra tests <<< "${TESTS:-}"
  "${@:2}" check "${tests[@]}" > "$work/$1.log" 2>&1 < /dev/null || tail -n 40 "$work/$1.log"
  told "$1: $(tail -n 1 "$work/$1.log")"
}

try_clang() {
  command -v clang > /dev/null || { told "clang: skipped (there is none)"; return; }
  copy_tree "$work/clang" || return
  OMPI_CC=clang MPICH_CC=clang check clang "$work/clang/bootstrap"
}

try_user() {
  local runner=()
  copy_tree "$work/user" || return
  if [ "$(id -u)" = 0 ]; then
    command -v setpriv > /dev/null || { told "user: skipped (setpriv is missing)"; return; }
    local name=${PORTABILITY_USER:-nobody}
    chmod 755 "$work"
    chown -R "$name" "$work/user"
    runner=(setpriv --reuid="$name" --clear-groups env -u OMPI_ALLOW_RUN_AS_ROOT -u CCACHE_DIR HOME="$work/user" TMPDIR=/tmp)
  fi
  check user "${runner[@]}" "$work/user/bootstrap"
}

try_mpich() {
  command -v mpicc.mpich > /dev/null || { told "mpich: skipped (mpicc.mpich is missing; Debian: libmpich-dev libhdf5-mpich-dev)"; return; }
  [ -n "${PETSC_DIR:-}" ] || { told "mpich: skipped (PETSC_DIR must name a PETSc that mpicc.mpich has built)"; return; }
  copy_tree "$work/mpich" || return
  cc -O2 -shared -fPIC "$source/tests/portability/mpich_wait.c" -o "$work/mpich_wait.so" -ldl || return
  CC=mpicc.mpich MPIEXEC=$(command -v mpiexec.mpich) check mpich env LD_PRELOAD="$work/mpich_wait.so" "$work/mpich/bootstrap"
}

umount_all() { # ROOT
  local place
  for place in dev sys proc; do
    ! mountpoint -q "$1/$place" || umount -R "$1/$place"
  done
}
try_debian() { # CODENAME
  local root=$work/$1 place
  command -v debootstrap > /dev/null || { told "$1: skipped (debootstrap is missing)"; return; }
  [ "$(id -u)" = 0 ] || { told "$1: skipped (a chroot needs root)"; return; }
  if [ ! -e "$root/etc/debian_version" ]; then
    debootstrap --variant=minbase "$1" "$root" > "$work/debootstrap.log" 2>&1 || { told "$1: FAILS (debootstrap.log)"; return; }
  fi
  copy_tree "$root/millrace" || return
  mounted+=("$root")
  for place in proc sys dev; do # hwloc and Slurm read the second, tests of progress lines need a terminal of the last
    mount --rbind --make-rslave "/$place" "$root/$place" || return
  done
  check "$1" chroot "$root" env -u OMPI_CC -u CCACHE_DIR /millrace/bootstrap
  umount_all "$root"
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
! grep -qE 'FAILS|[1-9][0-9]* failed' <<< "${results[*]}"
