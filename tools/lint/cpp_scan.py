"""A simple reader of C++: which lines are code, and where functions begin and end.

No parser: it blanks comments and literals, then follows braces. What stands before a brace tells
whether a function's body begins there. Lambdas count with the function around them.
"""

import re
from collections import namedtuple

Function = namedtuple("Function", "name line line_count")

# Comments, raw strings, strings and characters (a ' between digits is a separator).
_LITERALS = re.compile(
    r"//[^\n]*"
    r"|/\*.*?\*/"
    r'|R"([^()\\ ]{0,16})\(.*?\)\1"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
_NO_FUNCTION = re.compile(
    r"(^|\s)(namespace|struct|class|union|enum|extern|if|for|while|switch|catch|do|else|try|return)"
    r"\b[^()]*(\(|$)"
)


def blanked(text):
    """`text` with comments and literals replaced by blanks; lines stay where they are."""
    return _LITERALS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _without_preprocessor(text):
    # With their continuation lines: a macro's body has braces of its own.
    return re.sub(
        r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", lambda found: re.sub(r"[^\n]", " ", found[0]), text
    )


def _function_name(head):
    """The name of the function whose body begins behind `head`; None if none does."""
    head = re.sub(r"\s+", " ", head).strip()
    # `= [](...)` at namespace level is a function too; `= {` is an initialiser.
    if head.endswith("=") or "(" not in head:
        return None
    if _NO_FUNCTION.search(head.split("(")[0] + "("):
        return None
    found = re.search(r"([~\w:]+|operator\s*[^\s(]+)\s*\(", head)
    return found[1] if found else None


def functions(text):
    """All functions with a body, from the line where the head begins to the closing brace."""
    code = _without_preprocessor(blanked(text))
    found = []
    depth = 0
    body = None  # (name, line of the head, depth of the opening brace)
    head = ""
    head_line = line = 1
    for letter in code:
        if letter == "\n":
            line += 1
        if letter == "{":
            name = _function_name(head) if body is None else None
            if name is not None:
                body = (name, head_line, depth)
            depth += 1
            head = ""
        elif letter == "}":
            depth -= 1
            if body is not None and depth == body[2]:
                found.append(Function(body[0], body[1], line - body[1] + 1))
                body = None
            head = ""
        elif letter == ";":
            head = ""
        else:
            if not head.strip() and not letter.isspace():
                head_line = line
                head = ""
            head += letter
    return found
