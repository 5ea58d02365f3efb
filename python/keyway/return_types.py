"""The classes of results that have names: `keyway.sort(x)` is a `keyway.return_types.sort`."""

from keyway._C._return_types import *  # noqa: F403
