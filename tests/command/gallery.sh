#!/usr/bin/env bash
# The command lines of docs/gallery.md do what they say: each run as it stands there, on a coarse grid and for two steps, then each
# picture of it. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
"$python" -c 'import h5py, matplotlib' 2> /dev/null || skip_all "no h5py or matplotlib (Debian: python3-h5py python3-matplotlib)"
page=$MILLRACE_SOURCE/docs/gallery.md
export MPLCONFIGDIR=$work MILLRACE_PYTHON=$python

# Everything has its name of the page; the program makes the runs small.
mkdir build postproc
ln -s "$MILLRACE_SOURCE/inputs" .
cat > build/millrace << 'END'
#!/usr/bin/env bash
small=(--set run.step_limit=2)
case "$*" in
*channel-cylinder*) small+=(--set grid.resolution=220) ;;
*incline-viscosities* | *viscoelastic-figure*) small+=(--set grid.resolution=20) ;;
*many-spheres* | *layered-splash* | *colliding-streams*) small+=(--set grid.resolution=24) ;;
*inputs/solids* | *inputs/hybrid* | *city-flood* | *falling-objects* | *dam-terrain*) ;;
*) small+=(--set grid.resolution=16) ;;
esac
exec "$MILLRACE_BUILD/millrace" "$@" "${small[@]}"
END
for tool in picture plot render; do
  printf '#!/usr/bin/env bash\nexec "%s" "%s/postproc/%s" "$@"\n' "$(command -v "$python")" "$MILLRACE_SOURCE" $tool > postproc/$tool
done
chmod +x build/* postproc/*
# What the page takes from elsewhere: a published profile, and two runs with any names.
printf 'y,u\n0,0\n0.5,-0.2\n1,1\n' > ghia.csv

# The indented lines, continued ones as one, without their remarks.
mapfile -t lines < <(sed -n 's/^    //p' "$page" | sed -e ':join' -e '/\\$/{N;s/\\\n *//;b join' -e '}' -e 's/ *# .*//')
drawn() { timeout -k 5 120 bash -c "$1" && [ -s "$(sed -n 's/.* -o \([^ ]*\.png\).*/\1/p' <<< "$1")" ]; }
runs=0 pictures=0
for line in "${lines[@]}"; do
  case $line in
  "build/millrace run "*)
    directory=$(sed -n 's/.* -o \([^ ]*\).*/\1/p' <<< "$line")
    rm -rf "$directory" # names come twice
    ok "$line" timeout -k 5 120 bash -c "$line"
    runs=$((runs + 1))
    [ -d run-a ] || cp -r "$directory" run-a
    [ -d run-b ] || cp -r "$directory" run-b
    ;;
  postproc/render*)
    pictures=$((pictures + 1))
    if command -v pvbatch > /dev/null; then ok "$line" drawn "$line"; else skip "$line" "no ParaView"; fi
    ;;
  postproc/*png*) pictures=$((pictures + 1)) && ok "$line" drawn "$line" ;;
  postproc/*) pictures=$((pictures + 1)) && ok "$line" timeout -k 5 120 bash -c "$line" ;;
  *) ok "the test knows what \"$line\" is" false ;;
  esac
done
ok "the gallery has been walked through" [ "$runs" -ge 40 -a "$pictures" -ge 45 ]
shown() { for file in $(grep -o 'images/[^)]*' "$page"); do [ -s "$MILLRACE_SOURCE/docs/$file" ] || { echo "no $file"; return 1; }; done; }
ok "every picture of the page is there" shown
plan
