"""Run the code cells of notebooks with changed parameters as papermill and a kernel would, each in its own process.

Started as a program, it imports once what the notebooks import, reads cases (lines of JSON) from stdin, and forks a
child for each, which has IPython's shell, papermill's cell of parameters, and a time limit. A fork takes milliseconds
where a kernel takes seconds. It answers with a line of JSON: the outcome, and the text that each cell printed.
"""

import ast
import contextlib
import importlib
import io
import json
import os
import select
import signal
import sys
import time
import traceback
from pathlib import Path

from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
SECONDS = 900  # of a case: all settings of an ensemble take minutes


def code(notebook: str, changes: dict) -> list[str]:
    """Sources of the code cells, with the cell that papermill puts behind the parameters cell."""
    cells = parameterize_notebook(load_notebook_node(str(NOTEBOOKS / f"{notebook}.ipynb")), changes).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def warm() -> None:
    """Import rediscover, then all modules that the notebooks import."""
    names = {"rediscover"}
    for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        for source in code(path.stem, {}):
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Import):
                    names |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom):
                    names.add(node.module)
    from rediscover import report

    for name in sorted(names, key=lambda name: (not name.startswith("rediscover"), name)):
        importlib.import_module(name)
    importlib.import_module("rediscover.params").models()
    # Drawn, so that what cannot be drawn is found, and not written: half of a notebook's time is that.
    report.Output.figure = lambda self, figure, name, **about: figure.draw_without_rendering()


def execute(sources: list[str]) -> dict:
    """Run cells in this process, until one fails: how it ended, in which cell, and what each printed."""
    import matplotlib.pyplot as plt
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.xmode = "Minimal"
    shell = InteractiveShell.instance(config=config)
    printed = []
    for source in sources:
        with capture_output() as captured:
            result = shell.run_cell(source, store_history=True)
        plt.close("all")
        printed.append(captured.stdout)
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            lines = "".join(traceback.format_exception(error))
            return {"error": type(error).__name__, "message": str(error), "cell": source, "trace": lines} | {
                "printed": printed[:-1]
            }
    return {"error": "", "printed": printed}


def forked(notebook: str, changes: dict) -> dict:
    """`execute` in a child that leads a group of its own, so that its workers end with it."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        os.close(ours)
        with open(os.devnull, "w") as silent, contextlib.redirect_stderr(silent):
            outcome = execute(code(notebook, changes))
        with open(theirs, "w") as answer:
            json.dump(outcome, answer)
        os._exit(0)
    os.close(theirs)
    started, answer = time.monotonic(), b""
    with open(ours, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], max(0, SECONDS - time.monotonic() + started))[0]:
            if not (part := pipe.read(1 << 16)):
                break
            answer += part
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    ended = {"error": "Ended", "message": f"no answer in {SECONDS} s, or died", "cell": "", "printed": [], "trace": ""}
    outcome = json.load(io.BytesIO(answer)) if answer else ended
    return outcome | {"seconds": time.monotonic() - started}


def main() -> None:
    warm()
    for line in sys.stdin:
        case = json.loads(line)
        print(json.dumps(forked(case["notebook"], case["changes"])), flush=True)


if __name__ == "__main__":
    main()
