"""Worker processes: a generator, or a function over many items, runs in processes that may die.

A worker is a fresh interpreter, started by its path. A fork of a process with threads, as polars has them, may hang;
`multiprocessing` would run the user's program a second time. Requests and answers are pickled messages on the worker's
standard input and output. Code that a worker calls may end it: that costs only the request in hand.
"""
