"""The doctor: what qterm found on this machine, and a mend for each fault.

`check.py` is what a finding looks like, `examine.py` puts all of them together; `hermes_checks.py`,
`store_checks.py` and `config_checks.py` each look at one part. It reads, asks hermes for its help
in a throw-away home, and asks the model's address whether it is there; it changes nothing.
"""

from __future__ import annotations

from qterm.doctor.check import Check, State
from qterm.doctor.examine import examine

__all__ = ["Check", "State", "examine"]
