"""What postprocessing needs of a resolved scene: numbers, regions, bodies, the direction of gravity.

A resolved scene is YAML in the block style in which Millrace writes it; this reads that style without a YAML library.
"""

import ast
import math
import operator
import re

OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
              ast.Pow: operator.pow, ast.UAdd: operator.pos, ast.USub: operator.neg}
FUNCTIONS = {name: getattr(math, name) for name in ("sin", "cos", "tan", "sqrt", "exp")}
LONGEST_NUMBER = 200


def value_of(node):
    """Of arithmetic in floats, which overflow where whole numbers would grow without end."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id == "pi":
        return math.pi
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](value_of(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](value_of(node.left), value_of(node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        return FUNCTIONS[node.func.id](*[value_of(argument) for argument in node.args])
    raise ValueError("no arithmetic")


def number_of(text):
    """The value of a number of a scene, which may be arithmetic such as -9.81*cos(pi/9); 0 if it is not."""
    text = re.sub(r"^-\s+", "", text.strip()).strip("'\"").replace("^", "**")
    try:
        value = value_of(ast.parse(text, mode="eval").body) if len(text) <= LONGEST_NUMBER else 0.0
        return value if math.isfinite(value) else 0.0
    except (SyntaxError, TypeError, ArithmeticError, ValueError, RecursionError, MemoryError):
        return 0.0


def keys_of(item):
    """Keys and values of an item of a list, as text; `item` has a blank instead of the dash."""
    lines = [line for line in item.split("\n") if line.strip()]
    depth = min(len(line) - len(line.lstrip()) for line in lines)
    return dict(re.findall(r"^ {%d}(\w+):[ ]*(.*)$" % depth, "\n".join(lines), re.MULTILINE))


def items_of(block):
    """The items of a list that is all of a block, with a blank instead of their dashes."""
    indent = re.match(" *", block).group()
    return [f"{indent} {item}" for item in re.split(f"^{indent}-", block, flags=re.MULTILINE)[1:]]


class Region:
    """A region: its number in the field `region`, its name and kind, and whether it takes what the others leave."""

    def __init__(self, number, text):
        keys = keys_of(text)
        self.number = number
        self.name = keys.get("name", "").strip("'\"")
        self.kind = keys.get("type", "simulated").strip("'\"")
        self.is_background = "shape" not in keys
        self.distance, self.markers = f"distance_{self.name}", f"markers_{self.name}"

    def __repr__(self):
        return f"<millrace.Region {self.number} {self.name}: {self.kind}>"


class Body:
    """A body, which may stand for many copies: its name and kind, and its density where the scene gives it."""

    def __init__(self, text):
        keys = keys_of(text)
        count = re.search(r"^\s*count:\s*\[([^\]]*)\]", text, re.MULTILINE)
        self.name = keys.get("name", "").strip("'\"")
        self.kind = keys.get("type", "dynamic").strip("'\"")
        self.density = number_of(keys["density"]) if "density" in keys else None if "mass" in keys else 1000.0
        self.is_shell = number_of(keys.get("thickness", "0")) > 0
        self.copies = math.prod(int(number_of(n)) for n in count.group(1).split(",")) if count else 1

    def __repr__(self):
        return f"<millrace.Body {self.name}: {self.kind}, {self.copies} of it>"


def regions_of(scene):
    """In the order of the scene; none in a run without them."""
    block = re.search(r"^regions:[^\n]*\n((?:(?:[ \-][^\n]*)?(?:\n|$))*)", scene, re.MULTILINE)
    return [Region(number, item) for number, item in enumerate(items_of(block.group(1)), start=1)] if block else []


def bodies_of(scene):
    """Copies one by one, as the field `body` numbers them; none in a run without them."""
    block = re.search(r"^solids:[^\n]*\n((?:(?: [^\n]*)?(?:\n|$))*)", scene, re.MULTILINE)
    found = block and re.search(r"^( +)bodies:[^\n]*\n((?:\1[ \-][^\n]*(?:\n|$))*)", block.group(1), re.MULTILINE)
    bodies = [Body(item) for item in items_of(found.group(2))] if found else []
    return [body for body in bodies for _ in range(body.copies)]


def axis_of_gravity(scene):
    """None where there is no gravity."""
    for found in re.finditer(r"^\s*gravity:\s*((?:\[[^\]]*\])|(?:\n\s*-\s*\S+){3})", scene, re.MULTILINE):
        values = [number_of(text) for text in re.split(r"[,\n]", found.group(1).strip("[]")) if text.strip("- ")]
        if len(values) >= 2 and any(values):
            return max(range(len(values)), key=lambda axis: abs(values[axis]))
    return None


def number_at(scene, block, key):
    """Of a key directly below a block, such as end_time of run; None if the scene has none."""
    found = re.search(rf"^{block}:\s*\n((?:[ ]+[^\n]*\n?)*)", scene, re.MULTILINE)
    value = found and re.search(rf"^ {{2}}{key}:\s*([^\n#]+)", found.group(1), re.MULTILINE)
    return number_of(value.group(1)) if value else None
