"""The sandbox on bubblewrap, and the recorder of pytest's results that goes with it.

What holds, and against what: no network; no host home and nothing of the gate's environment; a dedicated user where the
gate is root; a filter of system calls; limits on memory, processes, files, output and time; the tree is the lower layer
of an overlay and never written. Guarantees that this machine cannot give are named in `Engine.missing`.
"""

from gatekeeper.adapters.bubblewrap_sandbox.command import TREE
from gatekeeper.adapters.bubblewrap_sandbox.distribution import recorder_distribution
from gatekeeper.adapters.bubblewrap_sandbox.sandbox import BubblewrapSandbox

__all__ = ["TREE", "BubblewrapSandbox", "recorder_distribution"]
