"""Equations of the documents, which are LaTeX between lines of $$ or, within a line, between single $, as MathML: a browser draws that without a script and without a network.

What MathJax or GitHub show of the same source is more than this needs to know: an unknown command is an error with its name."""

import html
import re

LETTERS = dict(zip("alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega Gamma Delta Lambda Pi Sigma Phi "
                   "Psi Omega".split(), "αβγδεζηθκλμνξπρστφχψωΓΔΛΠΣΦΨΩ")) | {"partial": "∂", "nabla": "∇", "infty": "∞", "ell": "ℓ", "prime": "′",
                                                      "varepsilon": "ε"}
OPERATORS = {"cdot": "·", "times": "×", "le": "≤", "ge": "≥", "to": "→", "gets": "←", "propto": "∝", "int": "∫", "sum": "∑", "mid": "∣",
             "{": "{", "}": "}", "lvert": "|", "rvert": "|", "lVert": "‖", "rVert": "‖", "ne": "≠", "approx": "≈", "pm": "±", "circ": "∘",
             "ldots": "…", "in": "∈", "otimes": "⊗"}
FUNCTIONS = {"min", "max", "exp", "log", "sin", "cos", "tan", "tanh"}
SPACES = {"quad": "1em", "qquad": "2em", ",": "0.17em", ";": "0.28em", " ": "0.25em"}
ACCENTS = {"hat": "^", "bar": "¯", "tilde": "~", "dot": "˙", "ddot": "¨"}
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|[^\s]")


class Equation:
    """Reads one equation, from left to right."""

    def __init__(self, source):
        self.source = source
        self.tokens = [(found.group(), found.end()) for found in TOKEN.finditer(source)]
        self.at = 0

    def peek(self):
        return self.tokens[self.at][0] if self.at < len(self.tokens) else None

    def next(self):
        if self.at == len(self.tokens):
            raise ValueError(f"the equation ends too early: {self.source.strip()[:60]}")
        self.at += 1
        return self.tokens[self.at - 1][0]

    def expect(self, token):
        found = self.next()
        if found != token:
            raise ValueError(f'"{token}" and not "{found}" in the equation {self.source.strip()[:60]}')

    def text(self):
        """What stands in braces, as it is."""
        self.expect("{")
        start = self.tokens[self.at - 1][1]
        while self.next() != "}":
            pass
        return self.source[start:self.tokens[self.at - 1][1] - 1]

    def row(self, *ends):
        parts = []
        while self.peek() is not None and self.peek() not in ends:
            parts.append(self.scripted())
        return "<mrow>" + "".join(parts) + "</mrow>"

    def group(self):
        if self.peek() != "{":
            return self.atom()
        self.next()
        row = self.row("}")
        self.expect("}")
        return row

    def scripted(self):
        limits = self.peek() in ("\\sum", "\\max", "\\min")
        base, scripts = self.atom(), {}
        while self.peek() in ("^", "_"):
            kind = self.next()
            if kind in scripts:
                raise ValueError(f'two "{kind}" at one place in the equation {self.source.strip()[:60]}')
            scripts[kind] = self.group()
        if limits and "_" in scripts and "^" not in scripts:
            return f"<munder>{base}{scripts['_']}</munder>"
        if len(scripts) == 2:
            return f"<msubsup>{base}{scripts['_']}{scripts['^']}</msubsup>"
        if scripts:
            (kind, script), = scripts.items()
            return f"<m{'sub' if kind == '_' else 'sup'}>{base}{script}</m{'sub' if kind == '_' else 'sup'}>"
        return base

    def atom(self):
        token = self.next()
        if token == "{":
            self.at -= 1
            return self.group()
        if token.startswith("\\"):
            return self.command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        return self.operator("−" if token == "-" else token)

    @staticmethod
    def operator(sign):
        fixed = ' stretchy="false"' if sign in "()[]|‖" else ""  # unless \left and \right say otherwise
        fixed += ' lspace="0" rspace="0"' if sign in "|‖" else ""
        return f"<mo{fixed}>{html.escape(sign)}</mo>"

    def command(self, name):
        if name in LETTERS:
            return f"<mi>{LETTERS[name]}</mi>"
        if name in OPERATORS:
            return self.operator(OPERATORS[name])
        if name in FUNCTIONS:
            return f"<mi>{name}</mi>"
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"/>'
        if name in ACCENTS:
            return f'<mover accent="true">{self.group()}<mo>{ACCENTS[name]}</mo></mover>'
        if name == "sqrt":
            return f"<msqrt>{self.group()}</msqrt>"
        if name in ("frac", "tfrac"):
            return f"<mfrac>{self.group()}{self.group()}</mfrac>"
        if name in ("text", "operatorname", "mathrm"):
            text = re.sub(r"\s+", "\u00a0", html.escape(self.text()))  # MathML drops spaces at the ends
            return f"<mtext>{text}</mtext>" if name == "text" else f'<mi mathvariant="normal">{text}</mi>'
        if name == "tag":
            return f'<mspace width="2em"/><mtext>({html.escape(self.text())})</mtext>'
        if name == "left":
            return self.fenced()
        if name == "begin":
            return self.table(self.text())
        raise ValueError(f"the command \\{name} is not known (docs/equations.py)")

    def fence(self):
        token = self.next()
        return "" if token == "." else f'<mo stretchy="true">{html.escape(token.lstrip(chr(92)))}</mo>'

    def fenced(self):
        left, row = self.fence(), self.row("\\right")
        self.expect("\\right")
        return f"<mrow>{left}{row}{self.fence()}</mrow>"

    def table(self, kind):
        if kind not in ("aligned", "pmatrix"):
            raise ValueError(f"the environment {kind} is not known (docs/equations.py)")
        rows = [[]]
        while True:
            rows[-1].append(self.row("&", "\\\\", "\\end"))
            token = self.next()
            if token == "\\end":
                break
            if token == "\\\\":
                rows.append([])
        if self.text() != kind:
            raise ValueError(f"{kind} is not ended")
        cells = "".join("<mtr>" + "".join(f"<mtd>{cell}</mtd>" for cell in row) + "</mtr>" for row in rows)
        if kind == "aligned":
            return f'<mtable class="aligned" displaystyle="true">{cells}</mtable>'
        return f'<mrow><mo stretchy="true">(</mo><mtable>{cells}</mtable><mo stretchy="true">)</mo></mrow>'


def mathml(source, display="block"):
    """The element for one equation, a line of its own or a part of one; its LaTeX comes with it, for who copies it."""
    equation = Equation(source)
    row = equation.row()
    if equation.peek() is not None:
        raise ValueError(f'"{equation.peek()}" is not expected in the equation {source.strip()[:60]}')
    return (f'<math display="{display}"><semantics>' + row + f'<annotation encoding="application/x-tex">{html.escape(source.strip(), quote=False)}</annotation>'
            "</semantics></math>")
