#!/usr/bin/env bash
# What bootstrap decides before it installs or builds anything. TAP.
. "$MILLRACE_SOURCE/tests/support/tap.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=../../bootstrap
source "$MILLRACE_SOURCE/bootstrap"

# is NAME WANTED GOT
is() { ok "$1" are_same "${@:2}"; }
are_same() {
  [ "$1" = "$2" ] && return
  printf 'wanted: %s\ngot:    %s\n' "${1//$'\n'/$'\n'        }" "${2//$'\n'/$'\n'        }"
  return 1
}

echo "1..12"

apt_sources=$scratch/apt
mkdir -p "$apt_sources/sources.list.d"
cat > "$apt_sources/sources.list.d/debian.sources" << 'END'
Types: deb deb-src
# a remark
URIs: http://mirror.example/packages
Suites: bookworm bookworm-updates
Components: main
Signed-By: /some/key.gpg

Types: deb
URIs: http://mirror.example/security
Suites: bookworm-security
Components: main
END
cat > "$apt_sources/sources.list" << 'END'
# deb http://remark.example/packages bookworm main
deb [signed-by=/some/key.gpg] http://mirror.example/packages bookworm main contrib
deb http://mirror.example/security bookworm-security main
END
is "non-free is derived from a .sources file" "Types: deb
URIs: http://mirror.example/packages
Suites: bookworm
Components: non-free
Signed-By: /some/key.gpg" "$(non_free_sources bookworm)"
is "non-free is derived from sources.list" \
  "deb [signed-by=/some/key.gpg] http://mirror.example/packages bookworm non-free" "$(non_free_lines bookworm)"

list='
command sh          | dash        | shell
command no-such-tool | some-package | some-module
python no_such_module | python3-some | py-some
'
is "what is missing is named with its package and module" \
  "command no-such-tool|some-package|some-module
python no_such_module|python3-some|py-some" "$(missing "$list")"

is "shared libraries are found by name" "linked no-such-blas|some-package|some-module" "$(missing 'linked c | libc6 | glibc
linked no-such-blas | some-package | some-module')"

can_install() { return 1; }
is "without root it reports and fails" "bootstrap: missing: command no-such-tool    Debian package: some-package    module: some-module
1" "$(provide 'command no-such-tool | some-package | some-module' 2>&1; echo $?)"
is "without root it goes on if everything is there" "0" "$(provide 'command sh | dash | shell' 2>&1; echo $?)"

# provide_for_speed IS_THERE_THEN: what is asked of apt where OpenBLAS is missing, and how it ends.
provide_for_speed() (
  is_there=no
  is_there_then=$1
  can_install() { true; }
  has() { [ $is_there = yes ]; }
  apt() {
    echo "apt $*"
    [ "$1" = update ] || is_there=$is_there_then
  }
  provide "$for_speed" 2>&1
  echo "status $?"
)
is "OpenBLAS is the package of one thread" "apt update
bootstrap: installing libopenblas0-serial
apt install --no-install-recommends --no-remove libopenblas0-serial
status 0" "$(provide_for_speed yes)"
is "OpenBLAS that is still not linked is told" "bootstrap: missing: linked openblas    Debian package: libopenblas0-serial    module: openblas (of one thread)
status 1" "$(provide_for_speed no | tail -n 2)"

build=$scratch/build
mkdir -p "$build/tests/unit"
printf ':test-result: %s\n' PASS PASS 'FAIL name' XFAIL > "$build/tests/unit/a.trs"
printf ':test-result: %s\n' SKIP ERROR XPASS > "$build/tests/b.trs"
is "results are summed over all tests" "3 passed, 3 failed, 1 skipped, status 1" "$(summarize 1), status $(summarize 1 > /dev/null; echo $?)"

rm "$build/tests/b.trs"
sed -i /FAIL/d "$build/tests/unit/a.trs"
is "all well is said to be well" "2 passed, 0 failed, 0 skipped, status 0" "$(summarize 0), status $(summarize 0 > /dev/null; echo $?)"

deps_for_check() { return 1; }
is "a failure before the first test is counted" "0 passed, 1 failed, 0 skipped" "$(run_check | tail -n 1)"

deps_for_check() { :; }
build_all() { :; }
make() { printf 'make: %s\n' "${*: -2}"; }
is "tests that are named are run alone" "make: TESTS=tests/unit/test_grid.1.np tests/unit/test_grid.2.np tests/checks/names.sh check_PROGRAMS=tests/unit/test_grid" \
  "$(run_check tests/unit/test_grid.1.np tests/unit/test_grid.2.np tests/checks/names.sh | grep TESTS=)"
