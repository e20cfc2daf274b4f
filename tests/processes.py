"""What tests ask of the operating system about processes."""

import time

import psutil


def running(pid):
    """Whether a process exists and is not merely waiting to be collected."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def ends(pid, seconds=5):
    """Whether a process has ended, or does within this time."""
    end = time.monotonic() + seconds
    while running(pid):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
