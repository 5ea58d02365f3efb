"""What the library was built with, as setup files ask for it."""


class _Backend:
    def __init__(self, available):
        self._available = available

    def is_available(self):
        return self._available


openmp = _Backend(False)
mps = _Backend(False)
