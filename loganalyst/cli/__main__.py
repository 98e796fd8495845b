"""`python -m loganalyst.cli`."""

from loganalyst.cli import program

program()
