"""A plot of losses as SVG: a picture that needs nothing else and is legible on light and dark pages."""

from html import escape

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 36, 36  # margins
COLOURS = ("#4c8bf5", "#e8710a", "#1a9e5c")


def ticks(low, high, count=5):
    """Round numbers from low to high, about `count` of them."""
    step = 10.0 ** len(str(int(max(high - low, 1)))) / 100
    while (high - low) / step > count:
        step *= 2 if f"{step:e}"[0] in "15" else 2.5
    first = -(-low // step) * step
    return [first + i * step for i in range(int((high - first) / step + 1e-9) + 1)]


def thinned(points, most=200):
    """Means of neighbouring points, at most `most` of them."""
    size = -(-len(points) // most)
    parts = [points[i:i + size] for i in range(0, len(points), size)]
    return [tuple(sum(column) / len(part) for column in zip(*part)) for part in parts]


def draw_svg(curves, title):
    """`curves`: lists of (step, loss) by name. Returns the picture's text."""
    points = [point for curve in curves.values() for point in curve]
    last = max(x for x, _ in points) or 1
    low, high = min(y for _, y in points), max(y for _, y in points)
    high += (high - low) * 0.05 or 1

    def pixel(x, y):
        return (LEFT + x / last * (WIDTH - LEFT - RIGHT), TOP + (high - y) / (high - low) * (HEIGHT - TOP - BOTTOM))

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             f'font-size="12" fill="#808080"><text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>']
    for y in ticks(low, high):
        at = pixel(0, y)[1]
        parts.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#80808040"/>'
                     f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{y:g}</text>')
    for x in ticks(0, last):
        parts.append(f'<text x="{pixel(x, low)[0]:.1f}" y="{HEIGHT - 14}" text-anchor="middle">{x:g}</text>')
    for i, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (pixel(*point) for point in thinned(curve)))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
                     f'<text x="{WIDTH - RIGHT}" y="{TOP + 16 * (i + 1)}" text-anchor="end" '
                     f'fill="{colour}">{escape(name)}</text>')
    return "\n".join(parts) + "\n</svg>\n"
