"""Commands without arguments: ``--help`` says what one does, and a word too many is refused before it works."""

import argparse


def none(doc: str) -> None:
    """Read the command line of a module that takes nothing; `doc` is its docstring.

    Raises
    ------
    SystemExit
        With status 0 after help, 2 after an error.
    """
    argparse.ArgumentParser(description=doc.splitlines()[0]).parse_args()
