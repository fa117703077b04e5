"""pulsequeue: pieces for asyncio (flat layout, coroutines)."""

from __future__ import annotations

PULSEQUEUE = {
    "README.md": "# pulsequeue\n\nSmall pieces for asyncio: a bucket, a bounded fan-out, retries.\n",
    "pyproject.toml": """\
[project]
name = "pulsequeue"
version = "0.9.0"
dependencies = []

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["."]
filterwarnings = ["error"]
""",
    "pulsequeue/__init__.py": '"""Pieces for asyncio."""\n\nfrom pulsequeue.bucket import Bucket\nfrom pulsequeue.fanout import fan_out\n'
    'from pulsequeue.retry import retry\n\n__all__ = ["Bucket", "fan_out", "retry"]\n',
    "pulsequeue/bucket.py": '''\
"""A bucket that fills by time."""

import time


class Bucket:
    """`rate` drops a second, at most `size` at once."""

    def __init__(self, rate, size, clock=time.monotonic):
        self.rate, self.size = rate, size
        self._clock = clock
        self._level, self._seen = float(size), clock()

    def _fill(self):
        now = self._clock()
        self._level = self._level + (now - self._seen) * self.rate
        self._seen = now

    def take(self, amount=1):
        """True if there was enough."""
        if amount > self.size:
            raise ValueError("more than the bucket holds")
        self._fill()
        if self._level < amount:
            return False
        self._level -= amount
        return True

    def wait_for(self, amount=1):
        """Seconds until so much is there."""
        self._fill()
        return max(0.0, (amount - self._level) / self.rate)
''',
    "pulsequeue/fanout.py": '''\
"""Run many coroutines, a few at a time."""

import asyncio


async def fan_out(jobs, limit):
    """Results in the order of the jobs; at most `limit` run at once."""
    if limit < 1:
        raise ValueError("limit must be positive")
    gate = asyncio.Semaphore(limit)

    async def run(job):
        async with gate:
            return await job()

    return await asyncio.gather(*(run(job) for job in jobs))
''',
    "pulsequeue/retry.py": '''\
"""Try again."""

import asyncio


async def retry(job, attempts=3, pause=0.0, on=(Exception,), report=None):
    """The job's result; the last error if it fails every time."""
    for number in range(1, attempts + 1):
        try:
            return await job()
        except on as error:
            if report is not None:
                report(number, error)
            if number == attempts:
                raise
            await asyncio.sleep(pause)
    raise ValueError("attempts must be positive")
''',
    "tests/test_bucket.py": """\
import pytest

from pulsequeue import Bucket


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def bucket(clock):
    return Bucket(rate=2, size=4, clock=clock)


def test_starts_full(bucket):
    assert [bucket.take() for _ in range(5)] == [True, True, True, True, False]


def test_fills_by_time(bucket, clock):
    bucket.take(4)
    clock.now += 1
    assert bucket.take(2)
    assert not bucket.take(1)


def test_wait_for(bucket):
    bucket.take(4)
    assert bucket.wait_for(3) == pytest.approx(1.5, abs=1e-9)


def test_more_than_the_bucket_holds(bucket):
    with pytest.raises(ValueError, match="more than"):
        bucket.take(5)
""",
    "tests/test_fanout.py": """\
import asyncio
import unittest

from pulsequeue import fan_out


class FanOutTest(unittest.IsolatedAsyncioTestCase):
    async def test_order_is_kept(self):
        async def job(number):
            await asyncio.sleep(0.001 * (3 - number))
            return number

        self.assertEqual(await fan_out([lambda n=n: job(n) for n in range(3)], 3), [0, 1, 2])

    async def test_limit(self):
        running, most = 0, 0

        async def job():
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.001)
            running -= 1

        await fan_out([job] * 6, 2)
        self.assertEqual(most, 2)

    async def test_error_comes_through(self):
        async def job():
            raise LookupError("gone")

        with self.assertRaisesRegex(LookupError, "gone"):
            await fan_out([job], 1)

    async def test_limit_must_be_positive(self):
        with self.assertRaisesRegex(ValueError, "positive"):
            await fan_out([], 0)
""",
    "tests/test_retry.py": """\
import asyncio
from unittest.mock import Mock

import pytest

from pulsequeue import retry


class Flaky:
    def __init__(self, failures, error=OSError):
        self.failures, self.error, self.calls = failures, error, 0

    async def __call__(self):
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error(f"no {self.calls}")
        return self.calls


def test_first_success():
    assert asyncio.run(retry(Flaky(0))) == 1


def test_succeeds_later():
    assert asyncio.run(retry(Flaky(2))) == 3


def test_gives_up():
    job = Flaky(9)
    with pytest.raises(OSError, match="no 3"):
        asyncio.run(retry(job))
    assert job.calls == 3


def test_other_errors_are_not_retried():
    job = Flaky(1, KeyError)
    with pytest.raises(KeyError):
        asyncio.run(retry(job, on=(OSError,)))
    assert job.calls == 1


def test_report_is_called():
    report = Mock()
    asyncio.run(retry(Flaky(2), report=report))
    assert [call.args[0] for call in report.call_args_list] == [1, 2]
    report.assert_called_with(2, report.call_args.args[1])


def test_attempts_must_be_positive():
    with pytest.raises(ValueError, match="positive"):
        asyncio.run(retry(Flaky(0), attempts=0))
""",
}
