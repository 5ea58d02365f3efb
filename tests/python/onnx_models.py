"""The models of bench/python/graphs.py, without its measurements."""

from pathlib import Path

import keyway
from keyway import nn

BENCH = Path(__file__).resolve().parents[2] / "bench/python/graphs.py"


def models():
    text = BENCH.read_text()
    assert text.endswith("\nmain()\n")
    names = {}
    exec(compile(text[: -len("main()\n")], str(BENCH), "exec"), names)
    return names["models"](nn, keyway)
