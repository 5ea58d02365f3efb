"""The command `keyway` of an installed package, and `python -m keyway`: the program that lies in the package's folder."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Becomes that program, with the same arguments."""
    program = Path(__file__).resolve().parent / "bin" / "keyway"
    if not program.is_file():
        sys.exit(f"keyway: there is no {program}: only an installed package has the command")
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
