"""Where the program begins."""

from __future__ import annotations

import json
import sys
import time

from .driver import Driver
from .interpreter import preload_pytest, prepare


def main() -> int:
    """Always ends with 0: what went wrong is in the results."""
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    driver = Driver(job)
    try:
        prepare(job)
        version = preload_pytest()
        driver.out.send("start", pytest=version, python=".".join(map(str, sys.version_info[:3])))
        driver.run()
    except Exception as error:
        driver.out.send("error", what=f"{type(error).__name__}: {error}"[:500])
    driver.out.send("end", n=len(driver.out.lines), wall=round(time.monotonic() - driver.began, 3))
    driver.out.write()
    return 0
