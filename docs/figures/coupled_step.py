#!/usr/bin/env python3
"""docs/images/coupled-step.svg: the coupled step, what each team does and what crosses between rooms.

coupled_step.py > docs/images/coupled-step.svg
"""

WIDTH, LEFT, RIGHT = 960, 250, 710  # of the picture; centres of the two lanes
BOX_WIDTH, ROW = 300, 92

# letter, team (f, s or both), what it does, where, what then crosses: (from, to, text)
PARTS = [
    ("F1", "f", "forces and viscosity over half a step", "fluid: FluidActWithoutAdvection",
     ("f", "s", "viscous impulses on bodies")),
    ("S1", "b", "(5.13) over half a step, bodies move", "coupling: CouplingSolve; solid: SolidMove",
     ("s", "f", "placements, velocities, contacts")),
    ("F2", "f", "velocity that leaks into no body", "coupling: CouplingProject; fluid: FluidSetAdvecting", None),
    ("F3", "f", "regions move; advection, viscosity, forces", "phase, fluid: FluidPredict…; coupling: FaceConstraints, Visibility",
     ("f", "s", "viscous impulses on bodies")),
    ("S2", "b", "(5.13) over the step, in rounds with contact", "coupling: CouplingSolve; solid: SolidConstrainVelocity",
     ("s", "f", "velocities after contact and joints")),
    ("F4", "f", "new state, extrapolated past liquids and bodies", "fluid: FluidTakePrediction; phase: extension", None),
]


def text(x, y, words, size=13, anchor="middle", weight="normal", fill="#222"):
    return (f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" '
            f'fill="{fill}">{words}</text>')


def box(letter, team, does, where, y):
    both = team == "b"
    left = LEFT - BOX_WIDTH / 2 - 50
    width = RIGHT - LEFT + BOX_WIDTH + 100 if both else BOX_WIDTH + 100
    centre = left + width / 2
    fill = "#e8efe0" if both else "#dfeaf5"
    return [f'<rect x="{left}" y="{y}" width="{width}" height="54" rx="6" fill="{fill}" stroke="#556"/>',
            text(left + 24, y + 33, letter, 18, weight="bold"),
            text(centre + 16, y + 23, does), text(centre + 16, y + 42, where, 11, fill="#555")]


def crossing(start, words, y):
    """An arrow between the lanes below the box that ends at y."""
    rightwards = start == "f"
    x = (LEFT + 40, RIGHT - 40) if rightwards else (RIGHT - 40, LEFT + 40)
    return [f'<line x1="{x[0]}" y1="{y + 22}" x2="{x[1]}" y2="{y + 22}" stroke="#a33" marker-end="url(#tip)"/>',
            text((x[0] + x[1]) / 2, y + 17, words, 12, fill="#a33")]


def main():
    height = 70 + ROW * len(PARTS)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
             '<defs><marker id="tip" markerWidth="10" markerHeight="8" refX="9" refY="4" orient="auto">'
             '<path d="M0,0 L10,4 L0,8 z" fill="#a33"/></marker></defs>',
             f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
             text(LEFT, 28, "fluid team: fields on the grid", 15, weight="bold"),
             text(RIGHT, 28, "solid team: bodies, contact, joints", 15, weight="bold"),
             f'<line x1="{(LEFT + RIGHT) / 2}" y1="40" x2="{(LEFT + RIGHT) / 2}" y2="{height - 10}" '
             'stroke="#bbb" stroke-dasharray="4 4"/>']
    for n, (letter, team, does, where, crosses) in enumerate(PARTS):
        y = 48 + ROW * n
        lines += box(letter, team, does, where, y)
        if crosses:
            lines += crossing(crosses[0], crosses[2], y + 54)
    print("\n".join(lines + ["</svg>"]))


if __name__ == "__main__":
    main()
