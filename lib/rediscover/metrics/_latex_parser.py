"""A process that does nothing but parse: one LaTeX equation per line in, its tree or null per line out, as
JSON.

`latex.parse` starts it as a script, so that it can be killed when an equation keeps it too long.
"""

import contextlib
import json
import sys


def tree(expression) -> list:
    return [type(expression).__name__, *(tree(child) for child in expression.args)]


def main():
    from sympy.parsing.latex import parse_latex

    with contextlib.suppress(ImportError, ValueError, OSError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        try:
            answer = json.dumps(tree(parse_latex(json.loads(line))))
        except Exception:  # whatever the parser stumbles over means "not parsed"
            answer = "null"
        print(answer, file=answers, flush=True)


if __name__ == "__main__":
    main()
