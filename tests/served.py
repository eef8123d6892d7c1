"""Servers of tests."""

from __future__ import annotations

import socket
import socketserver
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

ENDS = 0.02
"""Seconds after which a server looks whether it is to end; by default each test would wait for half a second."""


@contextmanager
def served(server: socketserver.BaseServer) -> Iterator[None]:
    """Serve in a thread, as long as the ``with`` statement lasts."""
    with server:
        thread = Thread(target=server.serve_forever, args=(ENDS,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def free_port() -> int:
    """A port of this machine at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
