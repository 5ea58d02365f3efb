"""Mixed precision: regions that run in short dtypes, and losses that are scaled so that gradients survive them.

>>> scaler = keyway.amp.GradScaler("cpu")
>>> with keyway.autocast("cpu", dtype=keyway.bfloat16):
...     loss = (keyway.ones(2, 3) @ keyway.ones(3, 2, requires_grad=True)).float().mean()
>>> scaler.scale(loss).backward()

Whether an operator runs in the short dtype or in float32 stands in its docstring; other ones run in the dtypes of their
arguments.
"""

from keyway._autocast import autocast, custom_bwd, custom_fwd, is_autocast_available
from keyway.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
