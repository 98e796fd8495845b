"""`python -m loganalyst.cli`."""

from loganalyst.cli import main

main()
