#!/usr/bin/env python3
"""docs/images/grid.svg: where the unknowns of the grid live. docs/images/cut-face.svg: the dual cell of a face that a body cuts.

grid.py grid > docs/images/grid.svg; grid.py cut-face > docs/images/cut-face.svg
"""

import sys

H = 120  # of a cell, in the picture


def text(x, y, words, size=15, anchor="middle", fill="#222"):
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{fill}">{words}</text>'


def line(a, b, colour="#8a94a0", width=1.5, more=""):
    return f'<line x1="{a[0]:g}" y1="{a[1]:g}" x2="{b[0]:g}" y2="{b[1]:g}" stroke="{colour}" stroke-width="{width}"{more}/>'


def arrow(a, b, colour):
    return line(a, b, colour, 3, f' marker-end="url(#{colour[1:]})"')


def dot(x, y, colour="#222", radius=6):
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius}" fill="{colour}"/>'


def whole(width, height, parts):
    tips = "".join(f'<marker id="{colour}" markerWidth="8" markerHeight="8" refX="5" refY="3" orient="auto">'
                   f'<path d="M0,0 L6,3 L0,6 z" fill="#{colour}"/></marker>' for colour in ("0b62a8", "b5302a"))
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif">',
                      f"<defs>{tips}</defs>", f'<rect width="{width}" height="{height}" fill="white"/>', *parts, "</svg>"])


def lattice(left, top, columns, rows):
    return ([line((left + i * H, top), (left + i * H, top + rows * H)) for i in range(columns + 1)] +
            [line((left, top + j * H), (left + columns * H, top + j * H)) for j in range(rows + 1)])


def grid():
    """Two by two cells: pressure in the middle, components of the velocity on faces, lower ones with the cell's number."""
    left, top, parts = 90, 40, []
    parts += lattice(left, top, 2, 2)
    for i in range(2):
        for j in range(2):
            parts.append(dot(left + (i + 0.5) * H, top + (j + 0.5) * H))
    for i in range(3):
        for j in range(2):
            x, y = left + i * H, top + (j + 0.5) * H
            parts.append(arrow((x - 18, y), (x + 16, y), "#0b62a8"))
    for i in range(2):
        for j in range(3):
            x, y = left + (i + 0.5) * H, top + j * H
            parts.append(arrow((x, y + 18), (x, y - 16), "#b5302a"))
    low = top + 1.5 * H
    parts += [text(left + 0.5 * H, low - 14, "p(i,j), s(i,j)"), text(left - 26, low + 5, "u(i,j)", anchor="end", fill="#0b62a8"),
              text(left + 0.5 * H, top + 2 * H + 44, "v(i,j)", fill="#b5302a"), text(left + H + 8, low + 28, "u(i+1,j)", 12, "start", "#0b62a8"),
              text(left + 0.5 * H + 10, top + H - 22, "v(i,j+1)", 12, "start", "#b5302a"),
              line((left + 2 * H + 30, top), (left + 2 * H + 30, top + H)), text(left + 2 * H + 40, top + 0.5 * H + 5, "h", anchor="start")]
    return whole(430, 350, parts)


def cut_face():
    """Two cells, the face between them, its dual cell, and a body that fills a part of that."""
    left, top = 60, 50
    middle, bottom, right = left + H, top + H, left + 2 * H
    body = f"M{left + 0.35 * H:g},{bottom + 34:g} Q{middle - 0.05 * H:g},{top + 0.52 * H:g} {right + 36:g},{top + 0.38 * H:g} L{right + 36:g},{bottom + 34:g} z"
    parts = ['<clipPath id="dual">' f'<rect x="{left + H / 2:g}" y="{top}" width="{H}" height="{H}"/></clipPath>',
             f'<path d="{body}" fill="#e3ddd2"/>', f'<path d="{body}" fill="#c9b48f" clip-path="url(#dual)"/>',
             f'<rect x="{left + H / 2:g}" y="{top}" width="{H}" height="{H}" fill="none" stroke="#222" stroke-width="2" stroke-dasharray="7 5"/>',
             *lattice(left, top, 2, 1), line((middle, top), (middle, bottom), "#0b62a8", 4),
             arrow((middle - 30, top + 0.3 * H), (middle + 26, top + 0.3 * H), "#0b62a8"), text(middle + 34, top + 0.3 * H - 8, "u", fill="#0b62a8"),
             dot(left + H / 2, top + H / 2), dot(left + 1.5 * H, top + H / 2),
             text(left + H / 2 - 12, top + H / 2 - 10, "p", anchor="end"), text(left + 1.5 * H + 12, top + H / 2 - 10, "p", anchor="start"),
             text(middle + 34, bottom - 14, "V_s", fill="#6b4f1d"), text(left + H / 2 + 8, top + 24, "φ v", anchor="start"),
             text(right + 6, bottom + 22, "body", 13), text(middle, bottom + 60, "dual cell of the face, v = φ v + V_s", 14)]
    return whole(380, 260, parts)


print({"grid": grid, "cut-face": cut_face}[sys.argv[1]]())
