"""What the program millrace starts for the commands that read runs: `python3 FOLDER info DIR`."""

import sys

from millrace.__main__ import main

sys.exit(main())
