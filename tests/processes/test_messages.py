"""Messages on a pipe."""

import io

from loganalyst.processes.messages import receive, send


def test_messages_come_back_in_order_and_one_that_was_cut_off_does_not() -> None:
    pipe = io.BytesIO()
    send(pipe, ("item", [1, 2]))
    send(pipe, None)
    send(pipe, "cut off")
    pipe.truncate(len(pipe.getvalue()) - 1)
    pipe.seek(0)

    assert [receive(pipe), receive(pipe)] == [("item", [1, 2]), None]
    assert receive(pipe) is None
    assert pipe.read() == b""
