"""A scaling study: which runs it needs, how they are started, and what strong and weak have in common.

A study owns a directory: study.json (what was asked), one directory per run, logs/, and from collect.py scaling.csv,
scaling.md and scaling.png.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import collect

HERE = os.path.dirname(os.path.abspath(__file__))
RUN_SCRIPT = os.path.join(os.path.dirname(HERE), "run.sbatch")
TREE = os.path.dirname(os.path.dirname(HERE))


class Trouble(Exception):
    """What a user can get wrong; ends the program with exit code 2."""


class Strong:
    """The scene as it is on every number of ranks."""

    kind = "strong"

    @staticmethod
    def add_arguments(parser):
        pass

    @staticmethod
    def resolutions(arguments):
        return [None] * len(arguments.ranks)


class Weak:
    """The resolution that keeps the cells per rank, as nearly as it may; what is left is divided out of the times."""

    kind = "weak"

    @staticmethod
    def add_arguments(parser):
        parser.add_argument("--resolution", type=int, metavar="N",
                            help="cells along x on the first number of ranks (default: the scene's)")
        parser.add_argument("--multiple", type=int, default=8, metavar="M",
                            help="resolutions are multiples of M (default 8)")
        parser.add_argument("--resolutions", type=numbers, metavar="N,N,...",
                            help="instead of the rule: one resolution per number of ranks")

    @staticmethod
    def resolutions(arguments):
        if arguments.resolutions:
            if len(arguments.resolutions) != len(arguments.ranks):
                raise Trouble("--resolutions must be as many as --ranks")
            return arguments.resolutions
        first = arguments.resolution or scene_number(arguments, "grid", "resolution")
        if first is None:
            raise Trouble(f"{arguments.scene} states no grid.resolution: give --resolution")
        dimension = int(scene_number(arguments, "grid", "dimension", 3))
        return [nearest_multiple(first * (ranks / arguments.ranks[0]) ** (1 / dimension), arguments.multiple)
                for ranks in arguments.ranks]


def nearest_multiple(value, step):
    return max(step, step * round(value / step))


def numbers(text):
    """The type of an argument such as 1,2,4."""
    values = [int(word) for word in text.split(",")]
    if min(values) < 1:
        raise ValueError(text)
    return values


def scene_number(arguments, room, key, default=None):
    """A number of the scene, from --set or its own text."""
    for setting in reversed(arguments.set):
        if setting.startswith(f"{room}.{key}="):
            return float(setting.split("=", 1)[1])
    with open(arguments.scene, encoding="utf-8") as scene:
        text = re.sub(r"#.*", "", scene.read())
    found = re.search(rf"\b{key}:\s*([-+.\deE]+)", text)
    return float(found.group(1)) if found else default


def find_millrace():
    wanted = os.environ.get("MILLRACE")
    candidates = [wanted] if wanted else ["millrace", os.path.join(TREE, "build", "millrace")]
    for candidate in candidates:
        path = shutil.which(candidate)
        if path:
            return os.path.abspath(path)
    raise Trouble(f"no program {candidates[0]}: set MILLRACE to its path, or PATH")


def plan(study, arguments):
    """The runs of the study. All numbers of ranks take their turn before any is repeated, so that a machine that grows
    slower meanwhile harms them alike."""
    resolutions = study.resolutions(arguments)
    dimension = int(scene_number(arguments, "grid", "dimension", 3))
    return [{"name": f"ranks-{ranks:05d}-{repeat}", "ranks": ranks, "resolution": resolution, "dimension": dimension}
            for repeat in range(1, arguments.repeats + 1)
            for ranks, resolution in zip(arguments.ranks, resolutions)]


def millrace_options(case, arguments):
    settings = [f"run.step_limit={arguments.steps}"]
    interval = scene_number(arguments, "run", "frame_interval")
    if interval:
        # beyond the last step: none is longer than the time between two frames
        settings.append(f"run.end_time={(arguments.steps + 1) * interval!r}")
    if case["resolution"]:
        settings.append(f"grid.resolution={case['resolution']}")
    options = [word for setting in settings + arguments.set for word in ("--set", setting)]
    return options + arguments.options


def launch(ranks):
    """The words that start so many ranks here. In an allocation of Slurm they are fewer than its tasks on purpose, which
    millrace would refuse."""
    words = shlex.split(os.environ.get("MPIEXEC") or "mpiexec") + shlex.split(os.environ.get("MPIEXEC_FLAGS", ""))
    words += ["-n", str(ranks)]
    return words + (["env", f"SLURM_NTASKS={ranks}"] if "SLURM_NTASKS" in os.environ else [])


def run_locally(cases, arguments):
    millrace = find_millrace()
    for number, case in enumerate(cases, 1):
        log = os.path.join(arguments.output, "logs", case["name"] + ".log")
        print(f"run {number} of {len(cases)}: {case['ranks']} ranks", flush=True)
        command = launch(case["ranks"]) + [millrace, "run", arguments.scene, "-o",
                                           os.path.join(arguments.output, case["name"])]
        command += millrace_options(case, arguments)
        with open(log, "w", encoding="utf-8") as output:
            code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
        if code != 0:
            with open(log, encoding="utf-8", errors="replace") as output:
                print(*output.readlines()[-20:], sep="", end="", file=sys.stderr)
            raise Trouble(f"the run on {case['ranks']} ranks ended with code {code}; all it said is in {log}")


def submit(cases, arguments):
    """One job per run, and one behind them all that collects."""
    if not shutil.which("sbatch"):
        raise Trouble("no sbatch here: --local runs the study without Slurm")
    environment = dict(os.environ, MILLRACE=find_millrace(), REQUEUE="no")
    extra = shlex.split(arguments.sbatch)
    logs = os.path.join(arguments.output, "logs")
    jobs = []
    for case in cases:
        command = ["sbatch", "--parsable", "--no-requeue", f"--job-name={case['name']}",
                   f"--output={logs}/{case['name']}.log", *extra, f"--ntasks={case['ranks']}", RUN_SCRIPT,
                   arguments.scene, os.path.join(arguments.output, case["name"]), *millrace_options(case, arguments)]
        jobs.append(sbatch(command, environment))
    program = os.path.abspath(sys.argv[0])
    behind = ["sbatch", "--parsable", "--job-name=collect", f"--output={logs}/collect.log", *extra, "--ntasks=1",
              "--dependency=afterany:" + ":".join(jobs), "--wrap",
              shlex.join([sys.executable, program, "--collect", arguments.output])]
    print(f"{len(jobs)} runs are jobs {jobs[0]} to {jobs[-1]}; job {sbatch(behind, environment)} collects them into "
          f"{arguments.output}")


def sbatch(command, environment):
    answer = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if answer.returncode:
        raise Trouble(f"sbatch refused: {shlex.join(command)}")
    return answer.stdout.strip().split(";")[0]


def start(study, arguments):
    if not arguments.scene or not arguments.output or not arguments.ranks:
        raise Trouble("a study needs SCENE, -o DIR and --ranks (or --collect DIR)")
    if not os.path.isfile(arguments.scene):
        raise Trouble(f"cannot read the scene {arguments.scene}")
    if arguments.skip >= arguments.steps:
        raise Trouble(f"--skip must be below --steps, not {arguments.skip} of {arguments.steps}")
    if os.path.isdir(arguments.output) and os.listdir(arguments.output):
        raise Trouble(f"{arguments.output} is not empty")
    arguments.scene = os.path.abspath(arguments.scene)
    arguments.output = os.path.abspath(arguments.output)
    cases = plan(study, arguments)
    os.makedirs(os.path.join(arguments.output, "logs"))
    with open(os.path.join(arguments.output, "study.json"), "w", encoding="utf-8") as record:
        json.dump({"kind": study.kind, "scene": arguments.scene, "skip": arguments.skip, "steps": arguments.steps,
                   "settings": arguments.set, "cases": cases}, record, indent=1)
    if arguments.local:
        run_locally(cases, arguments)
        return collect.collect(arguments.output)
    submit(cases, arguments)
    return 0


def parse(description, study):
    parser = argparse.ArgumentParser(
        description=description, usage="%(prog)s SCENE -o DIR --ranks 1,2,4 [options] [-- PETSc options]\n"
        "       %(prog)s --collect DIR")
    parser.add_argument("scene", nargs="?", metavar="SCENE")
    parser.add_argument("-o", "--output", metavar="DIR", help="new directory for the study")
    parser.add_argument("--ranks", type=numbers, metavar="N,N,...", help="numbers of ranks; the first is the reference")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="runs per number of ranks (default 3)")
    parser.add_argument("--steps", type=int, default=20, metavar="N", help="time steps of each run (default 20)")
    parser.add_argument("--skip", type=int, default=3, metavar="N", help="steps not counted at the start (default 3)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key of the scene")
    parser.add_argument("--local", action="store_true", help="run one after the other with mpiexec, without Slurm")
    parser.add_argument("--sbatch", default="", metavar="OPTIONS", help="for sbatch, such as '--exclusive -t 10'")
    parser.add_argument("--collect", metavar="DIR", help="only collect and plot a study that has run")
    study.add_arguments(parser)
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    arguments = parser.parse_args(words[:cut])
    arguments.options = words[cut + 1:]
    return arguments


def run_program(description, study):
    arguments = parse(description, study)
    try:
        sys.exit(collect.collect(arguments.collect) if arguments.collect else start(study, arguments))
    except (Trouble, collect.Incomplete) as trouble:
        print(f"{os.path.basename(sys.argv[0])}: error: {trouble}", file=sys.stderr)
        sys.exit(2 if isinstance(trouble, Trouble) else 1)
