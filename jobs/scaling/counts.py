"""Counts of a coupled step: how the box is shared (as src/grid/grid_box.c and src/poisson/agglomeration.c do it), and how often ranks exchange
ghosts and meet. Boxes without periodic directions, three dimensions, `coupling.solver: schur`, nothing sealed."""

import itertools
import math

GHOST, LEAST_WIDTH = 3, 4  # layers of ghosts; cells per rank and direction below which a level is divided anew
WORTHWHILE = 512  # cells of a rank for which that is done
REAL, SINGLE, SHARE = 8, 4, 4  # bytes
TWIST, PLACEMENT, BALANCE, ADDED, REPORTS = 6 * REAL, 56, 3 * 112, 11 * REAL, 120  # of a body; of the solids' report
CONTACT, PLACE = 104 + 8, 144  # a contact with its edge, and each of its places
TOUCHING, PAIR = 104, 296  # a place where bodies touch without fluid; two bodies in one dual cell
MOVED = 4  # coefficients of a level that is divided anew: three weights and the ground of one direction


def part_start(cells, parts, part):
    """The first cell of a part: aligned to blocks, at least four of them per part, but even."""
    alignment = 2 if 4 * parts <= cells else 1
    while 8 * alignment * parts <= cells:
        alignment *= 2
    return cells if part == parts else alignment * ((2 * part * cells + parts * alignment) // (2 * parts * alignment))


def part_starts(cells, parts):
    return [part_start(cells, parts, part) for part in range(parts + 1)]


def process_grid(cells, size):
    """Ranks per direction with the least cut area; ties go to cuts across z. None: too many ranks for the box."""
    best, found = math.inf, None
    for z in (n for n in range(1, size + 1) if size % n == 0):
        for y in (n for n in range(1, size // z + 1) if (size // z) % n == 0):
            trial = (size // z // y, y, z)
            area = sum((trial[d] - 1) * cells[(d + 1) % 3] * cells[(d + 2) % 3] for d in range(3))
            if area <= best and all(least_width(cells[d], trial[d]) >= LEAST_WIDTH for d in range(3)):
                best, found = area, trial
    return found


def least_width(cells, parts):
    starts = part_starts(cells, parts)
    return min(high - low for low, high in zip(starts, starts[1:]))


class Level:
    """One grid of the hierarchy: starts of the parts along each direction."""

    def __init__(self, cells, starts):
        self.cells, self.starts = cells, starts
        self.ranks = tuple(len(s) - 1 for s in starts)

    def is_fit(self):
        """Whether it can be solved in these parts."""
        return math.prod(self.ranks) == 1 or all(
            not any(start % 2 for start in s[:-1]) and
            (len(s) == 2 or min(b - a for a, b in zip(s, s[1:])) >= LEAST_WIDTH) for s in self.starts)

    def halved(self):
        return Level(tuple((n + 1) // 2 for n in self.cells),
                     [[start // 2 for start in s[:-1]] + [(s[-1] + 1) // 2] for s in self.starts])

    def divided(self, most):
        """The same among at most so many ranks."""
        ranks, count = None, max(1, min(most, math.prod(self.cells) // WORTHWHILE))
        while not ranks:
            ranks, count = process_grid([max(n, LEAST_WIDTH) for n in self.cells], count), count - 1
        return Level(self.cells, [part_starts(n, r) for n, r in zip(self.cells, ranks)])

    def widths(self):
        """Of the largest part."""
        return tuple(max(b - a for a, b in zip(s, s[1:])) for s in self.starts)

    def messages(self):
        """Sent by all ranks in one exchange."""
        total = math.prod(self.ranks)
        return sum(2 * (n - 1) * total // n for n in self.ranks)

    def sent(self, ghost):
        """Values that all ranks send in one exchange, for one field."""
        values = 0
        for place in itertools.product(*(range(n) for n in self.ranks)):
            width = [self.starts[d][place[d] + 1] - self.starts[d][place[d]] for d in range(3)]
            near = [(place[d] > 0) + (place[d] < self.ranks[d] - 1) for d in range(3)]
            for d in range(3):
                across = [width[e] + ghost * (2 if e < d else 2 - near[e]) for e in range(3) if e != d]
                values += near[d] * ghost * math.prod(across)
        return values

    def sent_by_one(self, ghost):
        """The same by direction, of a rank with the largest part and neighbours all around; one side."""
        width = self.widths()
        return [ghost * math.prod(width[e] + (2 * ghost if e < d else 0) for e in range(3) if e != d)
                if self.ranks[d] > 1 else 0 for d in range(3)]


class Box:
    """The grid and its hierarchy on so many fluid ranks; `moves` lead to levels that are divided anew."""

    def __init__(self, cells, fluid_ranks):
        self.cells, self.size = tuple(cells), fluid_ranks
        ranks = process_grid(self.cells, fluid_ranks)
        if not ranks:
            raise ValueError(f"{fluid_ranks} fluid ranks are too many for {cells} cells")
        level = Level(self.cells, [part_starts(n, r) for n, r in zip(self.cells, ranks)])
        self.levels, self.moves = [level], []
        while max(level.cells) > 2:
            arrival = level.halved()
            level = arrival if arrival.is_fit() else arrival.divided(math.prod(arrival.ranks))
            self.levels.append(level)
            if level is not arrival:
                self.moves.append(Move(arrival, level))
        self.fine = self.levels[0]
        self.shared = [one for one in self.levels if math.prod(one.ranks) > 1]
        self.moved = [move.solved for move in self.moves]


class Move:
    """A level on its way from the parts it arrives in to those it is solved in, and back with the ghosts."""

    def __init__(self, arrival, solved):
        self.arrival, self.solved = arrival, solved

    def overlaps(self, d, ghost):
        """Cells that each pair of parts along a direction has in common."""
        old, new, n = self.arrival.starts[d], self.solved.starts[d], self.arrival.cells[d]
        common = [[min(b, min(n, y + ghost)) - max(a, max(0, x - ghost)) for x, y in zip(old, old[1:])]
                  for a, b in zip(new, new[1:])]
        return [[cells for cells in row if cells > 0] for row in common]

    def messages(self, ghost=0):
        return math.prod(sum(len(row) for row in self.overlaps(d, ghost)) for d in range(3))

    def sent(self, ghost=0):
        return math.prod(sum(sum(row) for row in self.overlaps(d, ghost)) for d in range(3))

    def of_one(self, ghost=0):
        """Messages and values of the part that has most to do."""
        rows = [self.overlaps(d, ghost) for d in range(3)]
        return math.prod(max(map(len, row)) for row in rows), math.prod(max(map(sum, row)) for row in rows)


class Exchange:
    """Some exchanges of ghosts in a step, all of the same kind."""

    def __init__(self, part, count, level, fields=1, ghost=GHOST, size=REAL):
        self.part, self.count, self.level, self.fields, self.ghost, self.size = part, count, level, fields, ghost, size


class Passage:
    """Moves of a level in a step, with so many layers of ghosts."""

    def __init__(self, part, count, level, ghost=0, size=REAL):
        self.part, self.count, self.level, self.ghost, self.size = part, count, level, ghost, size


class Meeting:
    """Some collective calls in a step; `kind` is reduce, tell or gather, `length` in bytes (gather: of all ranks)."""

    def __init__(self, part, count, kind, length, everybody=False):
        self.part, self.count, self.kind, self.length, self.everybody = part, count, kind, length, everybody


class Work:
    """What a step does: iterations of S1 and S2 together, of F2, of one viscous solve; rounds of S2."""

    def __init__(self, coupled=22, plain=11, viscous=2, rounds=1, regions=False):
        self.coupled, self.plain, self.viscous, self.rounds, self.regions = coupled, plain, viscous, rounds, regions
        self.solves = 1 + rounds

    def cycles(self):
        return self.coupled + self.plain


def cycle_exchanges(box, count):
    """On the way down every shared level completes its right side, on the way up all but the finest and those that
    move their solution."""
    return [Exchange("cycle", count * (1 if level is box.fine or level in box.moved else 2), level) for level in box.shared]


def cycle_passages(box, count):
    return [Passage("coarse", count, move, ghost) for move in box.moves for ghost in (0, GHOST - 1)]


def step_passages(box, work):
    return (cycle_passages(box, work.cycles()) +
            [Passage("coarse", MOVED, move, size=SINGLE) for move in box.moves])


def set_up_exchanges(box):
    fine = box.fine
    found = [Exchange("set-up", 2, fine, 3), Exchange("set-up", 1, fine, 3, size=SINGLE),
             Exchange("set-up", 1, fine, 3, ghost=1), Exchange("set-up", 1, fine)]
    for level in box.shared:
        found.append(Exchange("set-up", 1, level, 1 if level is fine else 5, size=SINGLE))
        if level in box.moved:
            found.append(Exchange("set-up", 1, level, 3, size=SINGLE))
        starts = level.starts
        for d in range(3):  # shares: halved along x, then y, then z
            starts = starts[:d] + [level.halved().starts[d]] + starts[d + 1:]
            found.append(Exchange("set-up", 1, Level(level.cells, starts), 2, ghost=GHOST - 1, size=SHARE))
    return found


def step_exchanges(box, work):
    """All exchanges of a step."""
    fine = box.fine
    multiplied = work.coupled + 2 * work.solves + work.plain + 1
    found = cycle_exchanges(box, work.cycles()) + set_up_exchanges(box)
    found.append(Exchange("iteration", multiplied, fine, ghost=1))
    found.append(Exchange("viscosity", 2 * (work.viscous + 1), fine, 3))
    found.append(Exchange("viscosity", 6, fine))
    found.append(Exchange("fields", 3 + work.rounds + 1, fine, 3))  # before S1, S2; right sides of S1, F2, S2
    found.append(Exchange("fields", 9 + 6 + 3 + 2 + work.rounds, fine))
    found.append(Exchange("bodies", 4, fine, 3))  # parts of faces that are open and tied; the velocity inside bodies
    found.append(Exchange("bodies", 3, fine))  # covered cells
    if work.regions:
        found.append(Exchange("regions", 265, fine))
    return found


def step_meetings(box, work, bodies, contacts, places):
    """All collective calls of a step; `contacts` and `places` are those that the solid rank tells."""
    vector, one = TWIST * bodies, REAL
    found = [Meeting("iteration", 3 * work.cycles() + work.solves + 1, "reduce", one),
             Meeting("coupling", work.coupled + 3 * work.solves, "reduce", vector),
             Meeting("iteration", 4 * work.solves + 3, "reduce", one),
             Meeting("coupling", work.solves, "reduce", vector, True),
             Meeting("coupling", work.solves + 1, "tell", vector, True),
             Meeting("coupling", work.solves + 1, "tell", 328, True),
             Meeting("viscosity", 2 * (2 * work.viscous + 3), "reduce", one),
             Meeting("fields", 2, "reduce", 52), Meeting("fields", 5, "reduce", one, True)]
    # how far the flow goes in a step, the fastest of it beside light bodies, energy; added masses
    found += [Meeting("fields", 8, "reduce", one), Meeting("fields", 2, "reduce", one, True),
              Meeting("fields", 2, "tell", one, True), Meeting("set-up", 1, "reduce", ADDED * bodies, True)]
    # places of contact and their faces, added masses, null spaces; surfaces that a rank has to fetch
    found += [Meeting("set-up", 8, "reduce", vector), Meeting("bodies", 1, "reduce", one)]
    found += [Meeting("set-up", 5, "reduce", one), Meeting("set-up", 1, "reduce", BALANCE * bodies),
              Meeting("set-up", 1, "tell", one, True), Meeting("set-up", 1, "reduce", 36 * REAL * bodies, True),
              Meeting("set-up", 3, "gather", 4 * box.size), Meeting("set-up", 2, "gather", 16 * box.size),
              Meeting("set-up", 1, "gather", TOUCHING * contacts), Meeting("set-up", 1, "gather", 4 * box.size, True),
              Meeting("set-up", 1, "gather", PAIR * contacts, True)]
    found += [Meeting("bodies", 11, "reduce", vector), Meeting("bodies", 5, "tell", vector, True)]  # drag, momentum
    share = [TWIST * bodies, 0, PLACEMENT * bodies, REPORTS, 16, CONTACT * contacts, PLACE * places, 0, REAL * bodies]
    found += [Meeting("solids", 2, "tell", length, True) for length in share]
    found.append(Meeting("solids", work.rounds, "tell", vector, True))
    if work.regions:
        found += [Meeting("regions", 36, "reduce", one), Meeting("regions", 5, "gather", 4 * box.size)]
    return found


def totals(cells, ranks, work, bodies, own_rank=True):
    """What PETSc's -log_view counts in a step: messages and bytes of all ranks, reductions of a fluid rank."""
    fluid_ranks = ranks - 1 if own_rank and ranks > 1 else ranks
    box = Box(cells, fluid_ranks)
    exchanges = step_exchanges(box, work) if fluid_ranks > 1 else []
    passages = step_passages(box, work) if fluid_ranks > 1 else []
    meetings = step_meetings(box, work, bodies, 0, 0)
    return {"messages": sum(one.count * one.level.messages() for one in exchanges) +
                sum(one.count * one.level.messages(one.ghost) for one in passages),
            "bytes": sum(one.count * one.level.sent(one.ghost) * one.fields * one.size for one in exchanges) +
                sum(one.count * one.level.sent(one.ghost) * one.size for one in passages),
            "reductions": sum(one.count for one in meetings if (ranks if one.everybody else fluid_ranks) > 1)}
