"""The command-line program: ``python -m mmascope``, ``mmascope``."""

from __future__ import annotations

import os
import sys
import sysconfig

from . import _core


def _host() -> str | None:
    """The program that holds foreign code in a process of its own: this package's script."""
    name = "mmascope.exe" if os.name == "nt" else "mmascope"
    own = os.path.abspath(sys.argv[0])
    places = [own] if os.path.basename(own).startswith("mmascope") else []
    places.append(os.path.join(sysconfig.get_path("scripts"), name))
    return next((place for place in places if os.access(place, os.X_OK)), None)


def main() -> None:
    """Runs the program with the arguments of this process, and ends with its status."""
    sys.stdout.flush()
    sys.exit(_core.run_program(["mmascope", *sys.argv[1:]], _host()))


if __name__ == "__main__":
    main()
