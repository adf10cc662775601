# SPDX-License-Identifier: MIT
"""How the scripts of the proof end when something does not hold."""
import pathlib
import sys


def fail(message):
    """Ends the program with status 1, and with its name before the message."""
    sys.stdout.flush()
    sys.exit(f"{pathlib.Path(sys.argv[0]).stem}: {message}")
