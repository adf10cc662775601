# SPDX-License-Identifier: MIT
"""How the scripts of the proof end when something does not hold."""
import pathlib
import sys


def fail(message):
    """Prints the program's name and the message, and ends the program with status 1."""
    sys.stdout.flush()
    sys.exit(f"{pathlib.Path(sys.argv[0]).stem}: {message}")
