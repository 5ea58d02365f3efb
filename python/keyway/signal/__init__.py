"""Signals: `keyway.signal.windows`."""

from keyway.signal import windows as windows

__all__ = ["windows"]
