"""How two runs differ: `millrace compare A B`."""

import re

import numpy

from .errors import Error

# With a tolerance: counts of work and what a solve leaves behind have no digits to compare.
WORK = re.compile(r"wall_|.*(_iterations|_cycles|_set_ups|_residual|_complementarity|_disagreement)$|divergence_max$|imbalance$")


class Difference:
    """Of one array: its largest entry and its root mean square, as shares of the largest entry of the first run."""

    def __init__(self, name, largest, mean, note=""):
        self.name, self.largest, self.mean, self.note = name, largest, mean, note

    def __repr__(self):
        return f"<millrace.Difference {self.name}: {self.largest:.3g}>"

    def line(self, width):
        return f"{self.name:{width}} " + (self.note or f"{self.largest:11.3e} {self.mean:11.3e}")


def difference(name, first, second, scale=None):
    """Of two arrays; `scale` is what the largest is measured by, otherwise the largest entry of the first."""
    if first.shape != second.shape:
        return Difference(name, numpy.inf, numpy.inf, f"has shapes {first.shape} and {second.shape}")
    if first.size == 0:
        return Difference(name, 0.0, 0.0)
    first, second = first.astype(float), second.astype(float)
    same = (first == second) | (numpy.isnan(first) & numpy.isnan(second))
    apart = numpy.where(same, 0.0, abs(first - second))
    if numpy.isnan(apart).any():
        return Difference(name, numpy.inf, numpy.inf, "is not a number in one of them")
    scale = scale or float(numpy.nanmax(abs(first), initial=0.0)) or 1.0
    return Difference(name, float(apart.max()) / scale, float(numpy.sqrt((apart**2).mean())) / scale)


def only_one(kind, first, second):
    """Names that one of two lists alone has."""
    return [Difference(f"{kind} {name}", numpy.inf, numpy.inf, f"only in {'the first' if name in first else 'the second'}")
            for name in sorted(set(first) ^ set(second))]


def base_of(name):
    """Columns with one base share a scale: momentum_x and momentum_y, and the parts of one balance."""
    name = re.sub("_[xyz]$", "", name)
    return re.sub("^(advection|forces|viscosity|pressure|contact)_((angular_)?momentum)$", r"total_\2", name)


def scales_of(ledger, names):
    """What the columns of a ledger are measured by: their largest value, or where that is a sum of round-off, what it is
    a sum of."""
    scales = {}
    for name in names:
        scales[base_of(name)] = max(scales.get(base_of(name), 0.0), float(numpy.nanmax(abs(ledger[name]), initial=0.0)))
    far = max((scale for name, scale in scales.items() if name.startswith("position_")), default=0.0)
    for name, scale in scales.items():
        other = 0.0
        if name == "momentum":  # of a closed box
            other = scales.get("mass", 0.0) * scales.get("speed_max", 0.0)
        elif name == "solid_momentum":
            other = scales.get("total_momentum", 0.0)
        elif name in ("penetration_max", "joint_error_max"):  # differences of positions
            other = far
        elif "_torque_" in name:
            other = far * scales.get(name.replace("_torque_", "_force_"), 0.0)
        elif name.startswith("velocity_"):  # a body on a hinge
            other = scales.get("solid_speed_max", 0.0)
        scales[name] = max(scale, other)
    return scales


def ledger_differences(first, second, tolerance):
    names = [name for name in first if name in second and not name.startswith("wall_")]
    skipped = {name for name in names if WORK.match(name)} if tolerance > 0 else set()
    scales = scales_of(first, names)
    found = only_one("ledger", [n for n in first if not n.startswith("wall_")], [n for n in second if not n.startswith("wall_")])
    return found + [difference(f"ledger {name}", first[name], second[name], scales[base_of(name)])
                    for name in names if name not in skipped]


def mesh_differences(label, first, second):
    if first.cells.shape != second.cells.shape or first.vertices.shape != second.vertices.shape:
        return [Difference(label, numpy.inf, numpy.inf, f"has {len(first.vertices)} and {len(second.vertices)} vertices")]
    common = sorted(set(first.fields()) & set(second.fields()))
    return (only_one(label, first.fields(), second.fields()) + [difference(f"{label} vertices", first.vertices, second.vertices)]
            + [difference(f"{label} {name}", first[name], second[name]) for name in common])


def frame_differences(first, second):
    """Fields and meshes of two frames."""
    label = f"frame {first.number}"
    found = only_one(label, first.fields(), second.fields()) + only_one(f"{label} mesh", first.meshes(), second.meshes())
    found.append(difference(f"{label} time", numpy.array([first.time]), numpy.array([second.time])))
    for name in sorted(set(first.fields()) & set(second.fields())):
        found.append(difference(f"{label} {name}", first[name], second[name]))
    for name in sorted(set(first.meshes()) & set(second.meshes())):
        found += mesh_differences(f"{label} {name}", first.mesh(name), second.mesh(name))
    return found


def differences(first, second, tolerance=0.0, frames="all"):
    """Between two runs, what one of them lacks and the largest first: ledgers, and the frames of the same numbers, `frames` "all" or "last"."""
    found = ledger_differences(first.ledger, second.ledger, tolerance)
    found += only_one("output", list(first.outputs), list(second.outputs))
    for name in sorted(set(first.outputs) & set(second.outputs)):
        for each in ledger_differences(first.outputs[name], second.outputs[name], tolerance):
            each.name = each.name.replace("ledger", f"output {name}", 1)
            found.append(each)
    numbers = sorted({entry.number for entry in first.entries} & {entry.number for entry in second.entries})
    found += only_one("frame", [str(e.number) for e in first.entries], [str(e.number) for e in second.entries])
    for number in numbers if frames == "all" else numbers[-1:]:
        with first.frame(number) as one, second.frame(number) as other:
            found += frame_differences(one, other)
    return sorted(found, key=lambda each: (-each.largest, not each.note.startswith("only in")))


def tolerance_of(text):
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < numpy.inf:
        raise Error(f"--tolerance wants a number that is 0 or larger, not {text}")
    return value
