"""How often attributes, members and hooks of modules have changed: who remembers what they were asks this first."""

_count = 0


def note() -> None:
    global _count
    _count += 1


def count() -> int:
    return _count
