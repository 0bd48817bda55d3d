"""`python -m tinyc`: the command `tinyc`."""

import sys

from tinyc.driver.cli import main

if __name__ == "__main__":
    sys.exit(main())
