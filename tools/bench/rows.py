"""bench/rows.txt as values: what is measured, in which unit, and what is to be reached."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HIGHER_IS_BETTER = ("GB/s", "GFLOP/s")


@dataclass(frozen=True)
class Row:
    name: str
    unit: str
    goal: str
    what: str

    @property
    def threads(self):
        return 2 if self.name.endswith(("/2_threads", "/2_processes")) else 1

    def ratio(self, base, value):
        """How many times better `value` is than `base`."""
        if not base or not value:
            return None
        return value / base if self.unit in HIGHER_IS_BETTER else base / value

    def judge(self, peers, own):
        """(ratio shown, reached or None) from {name: value} of PyTorch and of Keyway."""
        value = own.get(self.name)
        ratio = self.ratio(peers.get(self.name), value)
        if value is None or self.goal == "-":
            return ratio, None
        if "x" not in self.goal:
            return ratio, value <= float(self.goal)
        factor, mark, other = re.fullmatch(r"([\d.]+)x(?:([:>])(.+))?", self.goal).groups()
        if mark == ":":
            ratio = self.ratio(own.get(other), value)
        elif mark == ">":
            ratio = self.ratio_beyond(own.get(other), peers.get(self.name), value)
        return ratio, None if ratio is None else ratio >= float(factor)

    @staticmethod
    def ratio_beyond(least, base, value):
        """The ratio of what two times are longer than one that neither can do without."""
        if not least or not base or not value:
            return None
        return (base - least) / (value - least) if value > least else float("inf")


CPU_ROWS, CUDA_ROWS = ROOT / "bench/rows.txt", ROOT / "bench/rows_cuda.txt"


def read_rows(path=CPU_ROWS):
    rows = []
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            rows.append(Row(*line.split(None, 3)))
    return rows
