"""Frames of tracebacks: how they are printed, and whose code they are in."""

import re

# Paths of libraries: `/x/site-packages/torch/a.py`, `/usr/lib/python3.11/a.py`, `<frozen runpy>`,
# `C:\Python311\lib\a.py`
LIBRARY = (
    r"site-packages|dist-packages|/lib/python\d|^<frozen|[\\/][Ll]ib[\\/]runpy\.py|[\\/]Lib[\\/]"
    r"|[\\/]Python\d+[\\/]lib[\\/]|^<string>|[\\/]bin[\\/][\w-]+$"
    r"|(?i:[\\/](?:(?:ana|mini)conda\d?|envs[\\/][^\\/]+|\.?venv)[\\/]lib[\\/])"  # Python's own library on Windows
    r"|(?:^|[\\/])\w+\.p(?:yx|xi)$|^stringsource$"  # compiled code that a Python frame called: `h5py/h5o.pyx`
    # checkouts of libraries that are used rather than written: repository and package
    r"|(?i:[\\/](?:transformers|accelerate|peft|diffusers)(?:-[\w.]+)?[\\/]src[\\/])"
    r"|(?i:[\\/](?:deepspeed[\\/]deepspeed|vllm[\\/]vllm|pytorch\w*[\\/](?:work[\\/])?torch)[\\/])"
)
# ` File "train.py", line 3, in main`; faulthandler leaves the second comma out
FRAME = r'^[\s>]*File "([^"]+)", line (\d+)(?:,? in (.+))?$'
_LIBRARY = re.compile(LIBRARY)
_TOPS = ("<module>", "_bootstrap", "_bootstrap_inner", "_run_module_as_main", "_run_code", "spawn_main")
_INSTALLED = re.compile(r"[\\/](?:site|dist)-packages[\\/]")


def own_frame(place: tuple[str, str, str]) -> str | None:
    """A frame as "file:line in function" if it is outside libraries."""
    return None if _LIBRARY.search(place[0]) else f"{place[0]}:{place[1]} in {place[2]}"


def begins_program(function: str) -> bool:
    """Whether a program or one of its processes begins in such a frame."""
    return function in _TOPS


def is_installed(path: str) -> bool:
    """Whether a file belongs to an installed package."""
    return _INSTALLED.search(path) is not None
