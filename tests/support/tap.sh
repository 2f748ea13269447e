# Sourced by tests in bash: TAP from commands that succeed or fail.

tap_number=0

# ok NAME COMMAND...: passes if the command succeeds; what it printed is shown if it does not.
ok() {
  local name=$1 said
  shift
  tap_number=$((tap_number + 1))
  if said=$("$@" 2>&1); then
    echo "ok $tap_number - $name"
  else
    echo "not ok $tap_number - $name"
    sed 's/^/# /' <<< "$said"
  fi
}

# exits CODE COMMAND...: succeeds if the command ends with this exit code.
exits() {
  local wanted=$1 got=0
  shift
  "$@" || got=$?
  [ "$got" -eq "$wanted" ] || {
    echo "exit code $got, not $wanted"
    return 1
  }
}

# silent COMMAND...: succeeds if the command prints nothing.
silent() {
  local said
  said=$("$@")
  [ -z "$said" ] || {
    echo "$said"
    return 1
  }
}

skip() {
  tap_number=$((tap_number + 1))
  echo "ok $tap_number - $1 # SKIP $2"
}

skip_all() {
  echo "1..0 # SKIP $1"
  exit 0
}

plan() { echo "1..$tap_number"; }
