"""Runs every attack and prints name → outcome as JSON: `python3 -m tests.attacks.inside.probe '<facts>' [names]`."""

import json
import sys

from tests.attacks.inside.probe import devices, files, kernel, mounts, network, processes  # noqa: F401 (they declare)
from tests.attacks.inside.probe.base import ATTACKS, FACTS, outcome

FACTS.update(json.loads(sys.argv[1]))
chosen = sys.argv[2:] or list(ATTACKS)
sys.stdout.write(json.dumps({name: outcome(ATTACKS[name].run) for name in chosen}))
