"""The rows of a run side by side, for a terminal and for Markdown."""


def show(value):
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table(rows, peers, own):
    """The lines of a table, its heading first, from {name: value} of PyTorch and of Keyway."""
    yield "work", "unit", "PyTorch", "Keyway", "ratio", "first", "reached"
    for row in rows:
        ratio, reached = row.judge(peers, own)
        yield (row.name, row.unit, show(peers.get(row.name)), show(own.get(row.name)),
               f"{ratio:.2f}" if ratio else "", row.goal, {None: "", True: "yes", False: "no"}[reached])


def as_text(lines):
    lines = list(lines)
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        cells = [cell.rjust(width) if 2 <= i <= 4 else cell.ljust(width)
                 for i, (cell, width) in enumerate(zip(line, widths))]
        yield "  ".join(cells).rstrip()


def as_markdown(lines, alignment="|---|---|--:|--:|--:|---|---|"):
    lines = list(lines)
    yield "| " + " | ".join(lines[0]) + " |"
    yield alignment
    for line in lines[1:]:
        yield "| " + " | ".join(line) + " |"
