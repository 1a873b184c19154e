"""An ssh whose other machine is this one: runs its last argument the way sshd does.

Its words before that go to the file SSH_LOG, if it is named. A command that a signal ended is exit
code 255, as with ssh. What it started outlives it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

if "SSH_LOG" in os.environ:
    with Path(os.environ["SSH_LOG"]).open("a") as log:
        log.write("\0".join(sys.argv[1:-1]) + "\n")
if "SSH_SAYS" in os.environ:  # a login shell that talks
    print(os.environ["SSH_SAYS"], end="", flush=True)
if "SSH_FAILS" in os.environ:
    print(os.environ["SSH_FAILS"], file=sys.stderr)
    sys.exit(int(os.environ.get("SSH_CODE", "255")))
shell = os.environ.get("SSH_SHELL", "sh")
code = subprocess.Popen([shell, "-c", sys.argv[-1]], start_new_session=True).wait()
sys.exit(code if code >= 0 else 255)
