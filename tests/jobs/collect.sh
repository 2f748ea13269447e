#!/usr/bin/env bash
# What a scaling study makes of ledgers whose times are known. TAP.
. "$MILLRACE_SOURCE/tests/jobs/support.sh"
command -v python3 > /dev/null || skip_all "python3 is missing (Debian: python3)"

# ledger DIR TIME...: one row per time, steps from 0
ledger() {
  local directory=$1 step=0 time
  shift
  mkdir -p "$directory"
  echo "step,time,pressure_iterations,wall_step,wall_pressure" > "$directory/ledger.csv"
  for time in "$@"; do
    echo "$step,0.1,9,$time,$time" >> "$directory/ledger.csv"
    step=$((step + 1))
  done
}

# study DIR KIND RESOLUTION-ON-1 RESOLUTION-ON-4: two repeats each, one step skipped
study() {
  local case repeat cases=
  for repeat in 1 2; do
    cases+="{\"name\": \"one-$repeat\", \"ranks\": 1, \"resolution\": $3, \"dimension\": 3},"
    cases+="{\"name\": \"four-$repeat\", \"ranks\": 4, \"resolution\": $4, \"dimension\": 3},"
  done
  mkdir -p "$1"
  echo "{\"kind\": \"$2\", \"scene\": \"box.yaml\", \"skip\": 1, \"steps\": 4, \"settings\": [], \"cases\": [${cases%,}]}" \
    > "$1/study.json"
}

# value FILE RANKS COLUMN
value() { awk -F, -v ranks="$2" -v name="$3" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) c = i}
  NR > 1 && c && $1 == ranks {print $c + 0}' "$1"; }
is() { [ "$(value "$1" "$2" "$3")" = "$4" ] || { echo "$3 on $2 ranks is $(value "$1" "$2" "$3"), not $4"; return 1; }; }

echo "1..13"

# Medians of steps 2 to 4: 8 and 10 on one rank, 3 and 3 on four.
study strong strong null null
ledger strong/one-1 99 99 8 8 7
ledger strong/one-2 99 99 10 10 60
ledger strong/four-1 99 99 3 2 3
ledger strong/four-2 99 99 3 3 50
printf '5,0.1,9,77' >> strong/four-2/ledger.csv
ok "a complete study ends with 0" exits 0 "$jobs/scaling/strong" --collect strong
ok "the time is the median of steps, then of repeats" is strong/scaling.csv 1 wall_step 9
ok "a line that is being written does not count" is strong/scaling.csv 4 wall_step 3
ok "repeats give the spread" is strong/scaling.csv 1 wall_step_max 10
ok "speed-up is the ratio of times" is strong/scaling.csv 4 speedup 3
ok "strong efficiency is speed-up per rank" is strong/scaling.csv 4 efficiency 0.75
ok "the table has a line per number of ranks" [ "$(grep -c '^| [14] |' strong/scaling.md)" = 2 ]
if python_with matplotlib > /dev/null; then
  ok "the plot is a picture" grep -q PNG strong/scaling.png
else
  skip "the plot is a picture" "matplotlib is missing (Debian: python3-matplotlib)"
fi

# 20^3 cells on four ranks are twice the cells per rank of 10^3 on one.
study weak weak 10 20
for repeat in 1 2; do
  ledger weak/one-$repeat 99 99 1 1 1
  ledger weak/four-$repeat 99 99 4 4 4
done
"$jobs/scaling/weak" --collect weak > /dev/null 2>&1
ok "weak efficiency divides by the cells per rank" is weak/scaling.csv 4 efficiency 0.5

rm -r weak/four-2
ok "a study with a missing run ends with 1" exits 1 "$jobs/scaling/weak" --collect weak
ok "the other runs still count" is weak/scaling.csv 4 repeats 1
rm -r weak/one-*
ok "without the reference there is nothing to compare" exits 1 "$jobs/scaling/weak" --collect weak
ok "a directory that is not empty is refused" exits 2 "$jobs/scaling/weak" "$scene" -o weak --ranks 1,2 --local
