"""All code bases of the catalogue by name."""

from __future__ import annotations

from bases_data import KVLOG, YOMIKANA
from bases_flow import PULSEQUEUE
from bases_order import DEPSORT
from bases_slots import SLOTBOOK
from bases_text import BARCHART, MINITPL
from bases_time import RECUR, TINYROUTE

BASES = {
    "slotbook": SLOTBOOK,
    "recur": RECUR,
    "tinyroute": TINYROUTE,
    "kvlog": KVLOG,
    "yomikana": YOMIKANA,
    "pulsequeue": PULSEQUEUE,
    "depsort": DEPSORT,
    "barchart": BARCHART,
    "minitpl": MINITPL,
}
