"""What the package was built with."""

import keyway

__version__ = "2.7.0"
cuda = "13.0" if keyway.cuda.is_available() else None
hip = None
