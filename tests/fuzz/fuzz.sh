#!/usr/bin/env bash
# Fuzzes, with clang's AddressSanitizer and UBSan, the reader of checkpoints with FUZZ_CASES (10000) changed ones from seed
# FUZZ_SEED (1) on, then those of meshes for FUZZ_MESH_SECONDS (600) and of scenes for FUZZ_SECONDS (600) with libFuzzer.
# `make fuzz` calls it with the compiler's flags, the libraries and the sources of libmillrace.a.
set -euo pipefail
: "${MILLRACE_SOURCE:?}" "${MILLRACE_BUILD:?}" "${FUZZ_CPPFLAGS:?}" "${FUZZ_LIBS:?}" "${FUZZ_SOURCES:?}"
command -v clang >/dev/null || {
  echo "make fuzz needs clang: install the package clang" >&2
  exit 2
}
. "$MILLRACE_SOURCE/tests/support/environment.sh"

directory=$MILLRACE_BUILD/tests/fuzz
mkdir -p "$directory/corpus" "$directory/mesh_corpus" "$directory/objects"
sanitize=address,undefined
# a null pointer that is moved but never used is no error of ours
flags="-g -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,$sanitize -fno-sanitize=pointer-overflow"
export OMPI_CC=clang MPICH_CC=clang

# after a change of a header everything is compiled again
[ -z "$(find "$MILLRACE_SOURCE"/include "$MILLRACE_SOURCE"/src -name '*.h' -newer "$directory/libfuzzed.a" 2>&1)" ] ||
  rm -f "$directory"/objects/*
objects=()
for source in $FUZZ_SOURCES tests/fuzz/fuzz_checkpoint.c tests/fuzz/fuzz_mesh.c tests/fuzz/fuzz_scene.c; do
  case $source in *.c) ;; *) continue ;; esac
  object=$directory/objects/${source//\//_}.o
  objects+=("$object")
  if [ "$MILLRACE_SOURCE/$source" -nt "$object" ]; then
    echo "  CLANG    $source"
    mpicc $flags $FUZZ_CPPFLAGS -c "$MILLRACE_SOURCE/$source" -o "$object"
  fi
done
rm -f "$directory/libfuzzed.a"
ar cr "$directory/libfuzzed.a" "${objects[@]::${#objects[@]}-3}"
mpicc -g -fsanitize="fuzzer-no-link,$sanitize" "${objects[-3]}" "$directory/libfuzzed.a" $FUZZ_LIBS \
  -o "$directory/fuzz_checkpoint"
mpicc -g -fsanitize="fuzzer,$sanitize" "${objects[-2]}" "$directory/libfuzzed.a" $FUZZ_LIBS -o "$directory/fuzz_mesh"
mpicc -g -fsanitize="fuzzer,$sanitize" "${objects[-1]}" "$directory/libfuzzed.a" $FUZZ_LIBS -o "$directory/fuzz_scene"

# What a refused checkpoint has left in memory ends with its process.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
scenes=()
for scene in collision bodies liquids surface deformable bound implicit splash; do
  scenes+=("$MILLRACE_SOURCE/tests/restart/scenes/$scene.yaml")
done
(cd "$scratch" && ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
  "$directory/fuzz_checkpoint" "${FUZZ_CASES:-10000}" "${FUZZ_SEED:-1}" "${scenes[@]}")

# Leaks are looked for at the end, over all that was found: only the slow unwinder tells ours from those of MPI, and it
# would cost nine tenths of the time.
export ASAN_OPTIONS=detect_leaks=1:leak_check_at_exit=0
cat "$MILLRACE_SOURCE"/tests/{support,fuzz}/leaks.supp >"$directory/leaks.supp"
export LSAN_OPTIONS=suppressions=$directory/leaks.supp:print_suppressions=0
cd "$directory"
cp "$MILLRACE_SOURCE"/tests/fuzz/meshes/* mesh_corpus/
./fuzz_mesh -detect_leaks=0 -max_total_time="${FUZZ_MESH_SECONDS:-600}" -max_len=8192 -timeout=10 -rss_limit_mb=1000 \
  -dict="$MILLRACE_SOURCE/tests/fuzz/mesh.dict" -print_final_stats=1 -verbosity=1 mesh_corpus
ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0 ./fuzz_mesh -runs=0 -detect_leaks=0 -verbosity=0 mesh_corpus
find "$MILLRACE_SOURCE/inputs" -name '*.yaml' -exec cp {} corpus/ \;
cp "$MILLRACE_SOURCE"/tests/fuzz/seeds/* corpus/
./fuzz_scene -detect_leaks=0 -max_total_time="${FUZZ_SECONDS:-600}" -max_len=4096 -timeout=10 -rss_limit_mb=2000 \
  -dict="$MILLRACE_SOURCE/tests/fuzz/scene.dict" -print_final_stats=1 -verbosity=1 corpus
ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0 ./fuzz_scene -runs=0 -detect_leaks=0 -verbosity=0 corpus
