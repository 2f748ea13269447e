#!/usr/bin/env bash
# millrace watch DIR: what its page shows, to whom, and what it refuses; in a browser where one is installed. TAP.
. "$MILLRACE_SOURCE/tests/restart/support.sh"
"$python" -c 'import h5py' 2> /dev/null || skip_all "h5py is missing (Debian: python3-h5py)"
export MILLRACE_PYTHON=$python

cat > scene.yaml << 'END'
title: "tank <script>alert(1)</script> & co"
grid: {dimension: 2, size: [1, 1], resolution: 12}
run: {end_time: 0.4, frame_interval: 0.1, time_step: 0.05, step_limit: 6}
fluid: {density: 1, viscosity: 0.01, sides: {y_high: {type: wall, velocity: [1, 0]}}}
END
millrace 1 run scene.yaml -o "a run" > "log" 2>&1
printf 'line <b>one</b>\nprogress 1\r\033[Kprogress 2\n' > "a run/run.log"
printf '\x89PNG\r\n\x1a\n' > 'a run/<img src=x onerror=alert(2)>.png'
find "a run" -printf '%p %T@ %s\n' | sort > before
"$MILLRACE_BUILD/millrace" watch "a run" --port 0 --every 3 > served 2>&1 &
server=$!
trap 'kill $server 2> /dev/null; cd / && rm -rf "$work"' EXIT
for _ in $(seq 100); do grep -q http served && break; sleep 0.1; done
port=$(sed -n 's|.*http://127.0.0.1:\([0-9]*\)/.*|\1|p' served)

cat > water.yaml << 'END'
let: {depth: 0.3}
grid: {dimension: 2, size: [1, 0.5], resolution: 16}
run: {end_time: 0.6, frame_interval: 0.1, step_limit: 3}
fluid: {gravity: [0, -9.81], pressure_tolerance: 1e-5, sides: {all: slip}}
regions:
  - {name: water, density: 1000, shape: {box: {low: [-1, -1], high: [0.4, depth]}}}
  - {name: air, type: empty}
END
cat > ask.py << 'END'
import http.client, sys
method, path, host, port = sys.argv[1:5]
connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)
connection.putrequest(method, path, skip_host=True)
connection.putheader("Host", host.replace("PORT", port))
connection.endheaders()
answer = connection.getresponse()
print(answer.status)
print("\n".join(f"{name}: {value}" for name, value in answer.getheaders()))
sys.stdout.flush()
sys.stdout.buffer.write(answer.read())
END
ask() { "$python" ask.py "$1" "$2" "${3:-127.0.0.1:PORT}" "$port" > "${4:-answer}" && head -n 1 "${4:-answer}"; }
answers() { local code; code=$(ask "${@:2}") && [ "$code" = "$1" ] || { echo "answered ${code:-nothing}"; cat served; return 1; }; }

ok "the page is served" answers 200 GET /
cp answer page
ok "with progress, time left, plots, limits and log" says page "t = 0.3 of 0.4 s (75 %)" "width:75.0%" "about" "kinetic_energy" "<svg" "limit 2" "limit 1e-08" "progress 2" 'content="3"'
plain() { ! grep -qE '<script|<b>|<img src=x|progress 1' page && says page '&lt;script&gt;' '&lt;b&gt;one' '&lt;img src=x onerror=alert(2)&gt;.png'; }
ok "and every name escaped" plain
ok "no script may run in it" says page "default-src 'none'" nosniff
ok "a picture is served by its number" answers 200 GET /picture/0
ok "one that is not there is not" answers 404 GET /picture/7
ok "the same for programs" answers 200 GET /state.json
facts() { tail -n 1 answer | "$python" -c 'import json, sys; s = json.load(sys.stdin); assert (s["step"], s["end"], s["done"], s["frames"]) == (6, 0.4, False, 4), s'; }
ok "with the facts" facts
ok "other names of the host are refused" answers 403 GET / evil.example:PORT
ok "another port too" answers 403 GET / 127.0.0.1:1
ok "localhost is this machine" answers 200 GET / localhost:PORT
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ]; then
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --dump-dom "http://127.0.0.1:$port/" > shown 2> /dev/null
  ok "a browser shows it, with its plots and limits" says shown "<polyline" "stroke-dasharray" "limit 1e-08"
  ok "and names as text" says shown '<title>tank &lt;script&gt;' 'alt="&lt;img src=x onerror=alert(2)&gt;.png"'
  millrace 1 run water.yaml -o water > water.log 2>&1
  "$MILLRACE_BUILD/millrace" watch water --port 0 > served.water 2>&1 &
  second=$!
  for _ in $(seq 100); do grep -q http served.water && break; sleep 0.1; done
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --window-size=1100,1400 --screenshot="$work/page.png" \
    --dump-dom "$(sed 's/.*at \(http[^ ]*\) .*/\1/' served.water)" > shown 2> /dev/null
  kill $second
  ok "volumes are beside those of the start, pressures beside their tolerance" says shown "volume_water: " ", at the start 0.119859)" "limit 1e-05"
else
  skip "a browser shows it" "there is no Chromium"
fi
for path in /../log /picture/../../log /a%20run/ledger.csv /ledger.csv; do
  ok "$path is not served" answers 404 GET $path
done
ok "nothing can be sent" answers 501 POST /
ok "nor deleted" answers 501 DELETE /picture/0
ok "only this machine can reach it" eval '! (ss -tln 2> /dev/null || netstat -tln 2> /dev/null) | grep -E "(0\.0\.0\.0|\*|\[::\]):$port "'
find "a run" -printf '%p %T@ %s\n' | sort > after
ok "looking changes nothing" diff before after
rm -r "a run/frames" "a run/run.xmf" "a run/checkpoints"
ok "a directory without a run is told, and looked at again" answers 503 GET /
ok "a directory that is not there is refused" refused 2 "nowhere: no such directory" -- "$MILLRACE_BUILD/millrace" watch nowhere
ok "a port that is none is refused" refused 2 "--port" -- "$MILLRACE_BUILD/millrace" watch "a run" --port 70000
ok "a log that is not there is refused" refused 2 "no.log: no such file" -- "$MILLRACE_BUILD/millrace" watch "a run" --log no.log
plan
