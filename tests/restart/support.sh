# Sourced by tests of whole runs: the program on N ranks, in a directory of its own, and what became of it.
. "$MILLRACE_SOURCE/tests/support/tap.sh"

scenes=$MILLRACE_SOURCE/tests/restart/scenes
work=$(mktemp -d)
comparer= # process that compares
trap 'cd / && rm -rf "$work"; [ -z "$comparer" ] || kill "$comparer"' EXIT
cd "$work" || exit 1

python=python3
"$python" -c 'import h5py' 2> /dev/null || python=/usr/bin/python3
# Also starts the one interpreter that does all comparisons of a script.
need_h5py() {
  "$python" -c 'import h5py' 2> /dev/null || skip_all "h5py is missing (Debian: python3-h5py)"
  mkfifo "$work/requests" "$work/replies" || exit 1
  "$python" "$MILLRACE_SOURCE/tests/restart/compare.py" --serve "$work/requests" "$work/replies" > /dev/null &
  comparer=$!
  disown
}

# millrace RANKS ARGUMENT...: one rank is started without mpiexec; `started_by` may be set to what runs before it.
started_by=()
millrace() {
  local ranks=$1
  shift
  if [ "$ranks" = 1 ]; then
    "${started_by[@]}" timeout -k 5 "${LIMIT:-120}" "$MILLRACE_BUILD/millrace" "$@"
  else
    "${started_by[@]}" timeout -k 5 "${LIMIT:-120}" "$MPIEXEC" $MPIEXEC_FLAGS -n "$ranks" "$MILLRACE_BUILD/millrace" "$@"
  fi
}

# same A B [TOLERANCE|state]: the newest checkpoints and the ledgers of two runs, or the checkpoints alone.
same() {
  local code=
  [ -n "$comparer" ] && kill -0 "$comparer" 2> /dev/null || {
    "$python" "$MILLRACE_SOURCE/tests/restart/compare.py" "$@"
    return
  }
  printf '%s\n' "$PWD" "$@" > "$work/requests"
  {
    read -r code
    cat
  } < "$work/replies"
  return "${code:-1}"
}

# says FILE WORD...: every word is in the file.
says() {
  local file=$1 word
  shift
  for word in "$@"; do
    grep -qF -e "$word" "$file" || {
      echo "not said: $word"
      cat "$file"
      return 1
    }
  done
}

# refused CODE WORD... -- COMMAND...: ends with the code, says the words on the way.
refused() {
  local code=$1 words=()
  shift
  while [ "$1" != -- ]; do
    words+=("$1")
    shift
  done
  shift
  exits "$code" "$@" > said 2>&1 || {
    cat said
    return 1
  }
  says said "${words[@]}"
}

# last_line FILE WORD...: it begins with the first and has the others.
last_line() {
  tail -n 1 "$1" > last
  [[ $(< last) == "$2"* ]] && says last "${@:3}" && return
  echo "the last line does not begin with: $2"
  cat "$1"
  return 1
}

checkpoints() { (cd "$1/checkpoints" && echo *); }
rows() { [ -e "$1/ledger.csv" ] && tail -n +2 "$1/ledger.csv" | wc -l || echo 0; }

# wait_for_rows DIR N: until a run in the background has taken so many steps; false if it takes too long.
wait_for_rows() {
  local tries=0
  until [ "$(rows "$1")" -gt "$2" ]; do
    tries=$((tries + 1))
    [ $tries -lt 1200 ] || return 1
    sleep 0.05
  done
}

# The first rank of the run that works in DIR.
process_of() { sed -n 's/^process \([0-9]*\) .*/\1/p' "$1/run.lock"; }

# bad WORD... -- ARGUMENT...: a run of them is refused with the words and makes no directory.
bad() {
  local words=()
  while [ "$1" != -- ]; do
    words+=("$1")
    shift
  done
  shift
  refused 2 "${words[@]}" -- millrace "${RANKS:-1}" run -o out "$@" || return 1
  [ ! -e out ] || { echo "something was written" && ls -R out && return 1; }
  ! grep -q PETSC said || { cat said && return 1; }
}
