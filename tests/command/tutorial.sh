#!/usr/bin/env bash
# docs/tutorial.md: every scene in it is read, and every command in it does what it should, on small grids. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
"$python" -c 'import h5py, matplotlib' 2> /dev/null || skip_all "no h5py or matplotlib (Debian: python3-h5py python3-matplotlib)"
page=$MILLRACE_SOURCE/docs/tutorial.md
export MILLRACE_PYTHON=$python MPLCONFIGDIR=$work README_MPIEXEC

# The blocks behind the remarks `scene: NAME[, added to NAME]` and `commands`.
"$python" - "$page" << 'END'
import re, sys
commands = []
for kind, rest, block in re.findall(r"<!-- (scene|commands)(?:: ([^>]*))? -->\n\n((?:    [^\n]*\n|\n(?=    ))*)", open(sys.argv[1], encoding="utf-8").read()):
    text = re.sub("^    ", "", block, flags=re.MULTILINE)
    if kind == "commands":
        commands.append(text)
        continue
    name, _, base = rest.partition(", added to ")
    with open(name, "w", encoding="utf-8") as stream:
        stream.write((open(base, encoding="utf-8").read() if base else "") + text)
open("commands", "w", encoding="utf-8").write("".join(commands))
END

mkdir bin
cat > bin/millrace << 'END'
#!/usr/bin/env bash
small=()
case "$*" in
*restart*) small=(--set run.step_limit=0) ;;
"run "*) small=(--set grid.resolution=16 --set run.time_step=0.02) ;;
esac
exec "$MILLRACE_BUILD/millrace" "$@" "${small[@]}"
END
printf '#!/usr/bin/env bash\nexec $README_MPIEXEC $MPIEXEC_FLAGS "$@"\n' > bin/mpiexec
for tool in picture plot; do
  printf '#!/usr/bin/env bash\nexec "%s" "%s/postproc/%s" "$@"\n' "$(command -v "$python")" "$MILLRACE_SOURCE" $tool > bin/$tool
done
chmod +x bin/*
README_MPIEXEC=$(command -v "$MPIEXEC")
PATH=$work/bin:$PATH

count=0
while read -r line; do
  count=$((count + 1))
  picture=$(sed -n 's/.* -o \([^ ]*\.png\).*/\1/p' <<< "$line")
  ok "$line" timeout -k 5 120 bash -c "$line"
  [ -z "$picture" ] || ok "and makes $picture" [ -s "$picture" ]
done < commands
ok "all commands have been run" [ "$count" -ge 15 ]
lines() { [ "$(wc -l < first.yaml)" -le 10 ]; }
ok "the first scene has at most ten lines" lines
pictures() { for file in $(grep -o 'images/tutorial[^)]*' "$page"); do [ -s "$MILLRACE_SOURCE/docs/$file" ] || { echo "no $file"; return 1; }; done; }
ok "every picture of the page is there" pictures
further() { "$MILLRACE_BUILD/millrace" info measured | grep -q "t = 0.7 of 0.7 s"; }
ok "the run went on to its later end" further
kept() { "$MILLRACE_BUILD/millrace" info measured > info.txt && says info.txt volume_water && ! grep "lost .*bodies" info.txt; }
ok "a box that the water has not reached yet is no loss" kept
plan
