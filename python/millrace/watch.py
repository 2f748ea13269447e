"""A page that shows how a run goes on: `millrace watch DIR`. By Python's own web server, for this machine alone.

It only reads. It answers GET and HEAD from this machine under the names of this machine, so that no other page in the
browser can ask it; every name and text of the run is escaped; pictures are those of the run's directory, by their number.
The page has no script, and loads itself again every few seconds.
"""

import glob
import html
import http.server
import json
import math
import os
import re
import time

from . import scenes
from .errors import Error
from .runs import Run
from .summary import Summary, plainly

COLUMNS = ("dt", "cfl", "kinetic_energy", "speed_max", "solid_energy", "solid_speed_max", "divergence_max", "mass", "volume_*",
           "deformable_volume", "pressure_iterations", "coupled_iterations", "pressure_residual", "coupled_residual",
           "penetration_max", "joint_error_max", "wall_step")
MOST_CELLS = 2.0  # that anything crosses in a step
LIMITS = {"dt": ("run", "largest_time_step"), "pressure_residual": ("fluid", "pressure_tolerance"),
          "coupled_residual": ("coupling", "tolerance")}  # the keys of the scene that bound columns
MOST_PLOTS, MOST_POINTS, MOST_PICTURES, LOG_LINES = 12, 300, 4, 25
STYLE = """body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#1f2430;background:#fbfbfd}
h1{font-size:1.4em;margin:0}h2{font-size:1.05em;margin:1.6em 0 .4em}p{margin:.2em 0}code,pre{font:13px ui-monospace,monospace}
pre{background:#eef0f4;padding:.8em;overflow-x:auto}.bar{background:#e5e7eb;height:.8em;border-radius:.4em;margin:.6em 0}
.bar i{display:block;height:100%;border-radius:.4em;background:#0072B2}.grid{display:flex;flex-wrap:wrap;gap:1em}
figure{margin:0}figcaption{font-size:13px;color:#4b5563}img{max-width:34em;max-height:26em;border:1px solid #e5e7eb}
td{padding:.1em 1.2em .1em 0;vertical-align:top}svg{background:#fff;border:1px solid #e5e7eb}"""


def chosen_columns(names):
    patterns = [re.compile(re.escape(pattern).replace(r"\*", ".*") + "$") for pattern in COLUMNS]
    found = [name for pattern in patterns for name in names if pattern.match(name)]
    return found[:MOST_PLOTS]


def thinned(times, values):
    """At most so many points, the last among them, without what is not a number."""
    step = max(1, math.ceil(len(times) / MOST_POINTS))
    kept = [(float(t), float(v)) for t, v in zip(times, values)][::-1][::step][::-1]
    return [(t, v) for t, v in kept if math.isfinite(t) and math.isfinite(v)]


def limit_of(summary, name):
    """What bounds a column, and in words; of what should stay as it is, where it began. None, "" of the others."""
    if name == "cfl":
        return MOST_CELLS, f", limit {MOST_CELLS:g}"
    if name in LIMITS:
        limit = scenes.number_at(summary.scene, *LIMITS[name])
        return (limit, f", limit {limit:g}") if limit else (None, "")
    if name in ("mass", "deformable_volume") or name.startswith("volume_"):
        first = float(summary.ledger[name][0]) if len(summary.ledger) else math.nan
        return (first, f", at the start {first:.6g}") if math.isfinite(first) else (None, "")
    return None, ""


def curve(points, limit=None, width=300, height=110):
    """An SVG of points (x, y), with a line at a limit that is not far above."""
    if len(points) < 2:
        return "<p>not yet two values</p>"
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    low, high = min(ys), max(ys)
    if limit is not None and limit < 2 * high:
        high = max(high, limit)
    wide, tall = (xs[-1] - xs[0]) or 1.0, (high - low) or abs(high) or 1.0

    def place(x, y):
        return f"{4 + (width - 8) * (x - xs[0]) / wide:.1f},{height - 6 - (height - 12) * (y - low) / tall:.1f}"

    lines = f'<polyline fill="none" stroke="#0072B2" stroke-width="1.5" points="{" ".join(place(x, y) for x, y in points)}"/>'
    if limit is not None and low <= limit <= high:
        ends = place(xs[0], limit).split(","), place(xs[-1], limit).split(",")
        lines += (f'<line x1="{ends[0][0]}" y1="{ends[0][1]}" x2="{ends[1][0]}" y2="{ends[1][1]}" stroke="#D55E00" '
                  'stroke-dasharray="4 3"/>')
    return f'<svg width="{width}" height="{height}" role="img">{lines}</svg>'


def figure(summary, units, name):
    ledger = summary.ledger
    points = thinned(ledger["time"], ledger[name])
    values = [value for _, value in points] or [float("nan")]
    unit = units.get(name, "")
    unit = f" {unit}" if unit not in ("", "1") else ""
    limit, words = limit_of(summary, name)
    text = f"{name}: {values[-1]:.4g}{unit} (from {min(values):.4g} to {max(values):.4g}{words})"
    return f"<figure>{curve(points, limit)}<figcaption>{html.escape(text)}</figcaption></figure>"


def pictures_in(directory):
    """Paths of the newest, the newest first."""
    found = [path for path in glob.glob(os.path.join(glob.escape(directory), "*.png")) if os.path.isfile(path)]
    return sorted(found, key=os.path.getmtime, reverse=True)[:MOST_PICTURES]


def log_of(directory, log):
    """The last lines of the log that was named, or of the newest *.log in the directory; None without one."""
    files = [log] if log else sorted(glob.glob(os.path.join(glob.escape(directory), "*.log")), key=os.path.getmtime)
    if not files or not os.path.isfile(files[-1]):
        return None
    with open(files[-1], "rb") as stream:
        stream.seek(max(0, os.path.getsize(files[-1]) - 20000))
        text = stream.read().decode("utf-8", "replace")
    # of a progress line that was written over, what is left
    lines = [plainly(line.split("\r")[-1].replace("\x1b[K", "")) for line in text.split("\n")]
    return "\n".join(lines[-LOG_LINES:])


def state_of(summary):
    """What the page tells, for programs."""
    spent, left = summary.wall()
    return {"title": summary.title, "state": summary.state, "done": summary.is_done, "time": summary.time, "end": summary.end,
            "step": summary.step, "frames": len(summary.entries), "wall": spent if math.isfinite(spent) else None,
            "left": left if math.isfinite(left) else None,
            "changes": {name: [first, last] for name, first, last in summary.drifts()},
            "losses": [[amount, meaning] for amount, meaning in summary.losses()]}


def page_of(directory, log, seconds):
    summary = Summary(Run(directory))
    units = summary.ledger.units()
    share = 100 * (summary.share or 0.0)
    rows = "".join(f"<tr><td>{html.escape(line[2:15].strip())}</td><td>{html.escape(line[15:])}</td></tr>"
                   for line in list(summary.lines())[1:])
    plots = "".join(figure(summary, units, name) for name in chosen_columns(summary.ledger.names))
    images = "".join(f'<figure><img src="/picture/{number}?{os.path.getmtime(path):.0f}" alt="{html.escape(os.path.basename(path))}">'
                     f"<figcaption>{html.escape(os.path.basename(path))}</figcaption></figure>"
                     for number, path in enumerate(pictures_in(directory)))
    tail = log_of(directory, log)
    return "".join([
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="refresh" content="{seconds}"><title>{html.escape(plainly(summary.title or directory))}</title>',
        f"<style>{STYLE}</style></head><body><h1>{html.escape(plainly(summary.title or directory))}</h1>",
        f'<div class="bar"><i style="width:{share:.1f}%"></i></div><table>{rows}</table>',
        f'<h2>Ledger</h2><div class="grid">{plots}</div>',
        f'<h2>Pictures</h2><div class="grid">{images}</div>' if images else "",
        f"<h2>Log</h2><pre>{html.escape(tail)}</pre>" if tail is not None else "",
        f"<p>{html.escape(time.strftime('%H:%M:%S'))}, again every {seconds} s</p></body></html>"])


class Handler(http.server.BaseHTTPRequestHandler):
    server_version, sys_version = "millrace", ""

    def is_asked_here(self):
        """A page of elsewhere that a name server sends here brings its own name along."""
        name = self.headers.get("Host", "").rsplit(":", 1)
        return name[0] in ("127.0.0.1", "localhost") and (len(name) == 1 or name[1] == str(self.server.server_port))

    def answer(self, code, kind, body):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def picture(self, number):
        paths = pictures_in(self.server.directory)
        if number >= len(paths):
            return self.answer(404, "text/plain", b"no such picture\n")
        with open(paths[number], "rb") as stream:
            return self.answer(200, "image/png", stream.read())

    def do_GET(self):
        path = self.path.split("?")[0]
        found = re.fullmatch(r"/picture/(\d{1,3})", path)
        if not self.is_asked_here():
            return self.answer(403, "text/plain", b"only for this machine\n")
        try:
            if path == "/":
                body = page_of(self.server.directory, self.server.log, self.server.seconds)
                return self.answer(200, "text/html; charset=utf-8", body.encode("utf-8", "replace"))
            if path == "/state.json":
                return self.answer(200, "application/json", json.dumps(state_of(Summary(Run(self.server.directory)))).encode())
            if found:
                return self.picture(int(found.group(1)))
        except (Error, OSError) as problem:
            message = f'<!doctype html><meta http-equiv="refresh" content="{self.server.seconds}"><p>{html.escape(str(problem))}</p>'
            return self.answer(503, "text/html; charset=utf-8", message.encode("utf-8", "replace"))
        return self.answer(404, "text/plain", b"no such page\n")

    do_HEAD = do_GET

    def log_message(self, *words):
        pass


def serve(directory, port, seconds, log):
    """Until it is interrupted."""
    if not os.path.isdir(directory):
        raise Error(f"{directory}: no such directory")
    if log and not os.path.isfile(log):
        raise Error(f"{log}: no such file")
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as problem:
        raise Error(f"port {port} cannot be used: {problem.strerror}; choose another with --port, or 0 for any") from problem
    server.directory, server.log, server.seconds = directory, log, seconds
    print(f"watching {plainly(directory)} at http://127.0.0.1:{server.server_port}/ (Ctrl-C ends this, not the run)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
