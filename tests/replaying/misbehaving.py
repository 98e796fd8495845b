"""Entries that hang, fork, eat memory, exit or print. They start fast because they do not import torch."""

import os
import subprocess
import sys
import time


def hangs():
    while True:
        time.sleep(0.05)


def forks():
    """Starts children, one of them in its own session, writes down their ids, and waits for ever."""
    apart = "import time; time.sleep(600)"
    children = [subprocess.Popen([sys.executable, "-c", apart], start_new_session=own).pid for own in (False, True)]
    with open(os.environ["CHILDREN"], "w", encoding="utf-8") as file:
        file.write(" ".join(map(str, children)))
    return hangs()


def eats_memory():
    held = []
    while True:
        held.append(bytearray(os.urandom(1 << 20) * 64))


def exits():
    sys.exit("enough")


def exits_at_once():
    print("the last words")
    sys.stdout.flush()
    os._exit(7)


def prints_garbage():
    """Its output, on any stream or descriptor, is not an answer."""
    for _ in range(200):
        print("{" * 1000)
        os.write(1, b'{"kind": "measured"}\n')
        os.write(2, b"\xff\xfe\x00" * 1000)
    raise ValueError("enough printed")


def raises():
    raise KeyError("no such key")


def returns_nothing():
    return None
