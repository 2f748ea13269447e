"""What a scaling study found: times per step from the ledgers, efficiency, a table and a plot."""

import csv
import json
import os
import statistics
import subprocess
import sys

SYSTEM_PYTHON = "/usr/bin/python3"
# of the pressure in a plain step; of S1, F2 and S2 in a coupled one
ITERATIONS = ["pressure_iterations", "half_iterations", "advecting_iterations", "coupled_iterations"]


class Incomplete(Exception):
    """Too few of the runs are there."""


def read_ledger(path):
    """The rows, as dictionaries of numbers; a last line that is being written does not count."""
    with open(path, encoding="utf-8", newline="") as ledger:
        text = ledger.read()
    lines = text[:text.rfind("\n") + 1].splitlines()
    return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(lines)]


def measure(directory, case, skip):
    """Medians over the steps of one run after the first ones: each wall_* column and the iterations."""
    rows = [row for row in read_ledger(os.path.join(directory, case["name"], "ledger.csv")) if row["step"] > skip]
    if not rows:
        raise Incomplete(f"no step beyond {skip}")
    names = [name for name in rows[0] if name.startswith("wall_") or name in ITERATIONS]
    return {name: statistics.median(row[name] for row in rows) for name in names}


def measure_all(directory, study):
    """Per number of ranks, in the study's order: its case and what its repeats measured."""
    groups = {}
    for case in study["cases"]:
        group = groups.setdefault(case["ranks"], {"case": case, "repeats": []})
        try:
            group["repeats"].append(measure(directory, case, study["skip"]))
        except (OSError, KeyError, ValueError, Incomplete) as problem:
            print(f"{case['name']} does not count: {problem}", file=sys.stderr)
    return list(groups.values())


def work(case):
    """Cells per rank, up to a factor that is the same throughout a study."""
    return (case["resolution"] or 1) ** case["dimension"] / case["ranks"]


def summarise(groups):
    """One row per number of ranks: median over the repeats; efficiency against the first row."""
    if not groups[0]["repeats"]:
        raise Incomplete(f"no run on {groups[0]['case']['ranks']} ranks is complete: nothing to compare with")
    table = []
    for group in groups:
        if not group["repeats"]:
            continue
        case, repeats = group["case"], group["repeats"]
        row = {"ranks": case["ranks"], "resolution": case["resolution"] or "", "repeats": len(repeats)}
        steps = [repeat["wall_step"] for repeat in repeats]
        row.update(wall_step_min=min(steps), wall_step_max=max(steps))
        row.update({name: statistics.median(repeat[name] for repeat in repeats) for name in repeats[0]})
        row["work"] = work(case)
        # time per cell of a rank's own: the same for both kinds of study
        first = table[0] if table else row
        row["efficiency"] = (first["wall_step"] / first["work"]) / (row["wall_step"] / row["work"])
        row["speedup"] = row["efficiency"] * row["ranks"] / first["ranks"]
        table.append(row)
    for row in table:
        del row["work"]
    return table


def write_csv(path, table):
    with open(path, "w", encoding="utf-8", newline="") as output:
        writer = csv.DictWriter(output, fieldnames=table[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


def milliseconds(seconds):
    value = 1e3 * seconds
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def markdown(study, table):
    weak = study["kind"] == "weak"
    lines = [f"{study['kind'].capitalize()} scaling of `{os.path.basename(study['scene'])}`, medians of steps "
             f"{study['skip'] + 1} to {study['steps']} and of the repeats; {' '.join(study['settings'])}".rstrip("; "), "",
             "| ranks |" + (" resolution |" if weak else "") +
             " repeats | step [ms] | from–to [ms] | speedup | efficiency | iterations |",
             "|" + "---:|" * (8 if weak else 7)]
    for row in table:
        cells = [row["ranks"]] + ([row["resolution"]] if weak else [])
        cells += [row["repeats"], milliseconds(row["wall_step"]),
                  f"{milliseconds(row['wall_step_min'])}–{milliseconds(row['wall_step_max'])}", f"{row['speedup']:.2f}",
                  f"{100 * row['efficiency']:.0f} %", f"{sum(row[name] for name in ITERATIONS if name in row):.0f}"]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def plot(path, study, table):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ranks = [row["ranks"] for row in table]
    first = table[0]
    figure, (times, efficiency) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name in [name for name in first if name.startswith("wall_") and name not in ("wall_step_min", "wall_step_max")
                 and any(row[name] > 0 for row in table)]:
        style = dict(linewidth=2, color="black") if name == "wall_step" else dict(linewidth=1)
        times.plot(ranks, [row[name] for row in table], marker="o", label=name[len("wall_"):], **style)
    times.vlines(ranks, [row["wall_step_min"] for row in table], [row["wall_step_max"] for row in table], color="black")
    ideal = [first["wall_step"] * (first["ranks"] / n if study["kind"] == "strong" else 1) for n in ranks]
    times.plot(ranks, ideal, linestyle=":", color="grey", label="ideal")
    times.set(xscale="log", yscale="log", xlabel="ranks", ylabel="time per step [s]")
    times.legend(fontsize="small")
    efficiency.plot(ranks, [row["efficiency"] for row in table], marker="o", color="black")
    efficiency.axhline(1, linestyle=":", color="grey")
    efficiency.set(xscale="log", xlabel="ranks", ylabel="efficiency", ylim=(0, None))
    for axes in (times, efficiency):
        axes.set_xticks(ranks, [str(n) for n in ranks])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    figure.suptitle(f"{study['kind']} scaling: {os.path.basename(study['scene'])}")
    figure.savefig(path, dpi=120)


def collect(directory):
    """Writes scaling.csv, scaling.md and, where matplotlib is, scaling.png. Returns the exit code."""
    try:
        with open(os.path.join(directory, "study.json"), encoding="utf-8") as record:
            study = json.load(record)
    except OSError as problem:
        raise Incomplete(f"{directory} holds no study: {problem}") from problem
    groups = measure_all(directory, study)
    table = summarise(groups)
    write_csv(os.path.join(directory, "scaling.csv"), table)
    text = markdown(study, table)
    with open(os.path.join(directory, "scaling.md"), "w", encoding="utf-8") as output:
        output.write(text)
    print(text)
    draw(directory, study, table)
    complete = sum(len(group["repeats"]) for group in groups) == len(study["cases"])
    return 0 if complete else 1


def draw(directory, study, table):
    """Draws, if need be with the system's python: one of the user's own often lacks matplotlib."""
    path = os.path.join(directory, "scaling.png")
    try:
        plot(path, study, table)
    except ModuleNotFoundError:
        is_system = os.path.exists(SYSTEM_PYTHON) and os.path.samefile(sys.executable, SYSTEM_PYTHON)
        if is_system or not os.path.exists(SYSTEM_PYTHON) or subprocess.run(
                [SYSTEM_PYTHON, os.path.abspath(__file__), path], input=json.dumps([study, table]), text=True,
                check=False).returncode:
            print("no plot: matplotlib is missing (Debian: python3-matplotlib); --collect draws it later",
                  file=sys.stderr)
            return
    print(f"the plot is {path}")


if __name__ == "__main__":
    plot(sys.argv[1], *json.load(sys.stdin))
