"""Stacks of running processes, as py-spy and faulthandler print them."""
