"""A line between the browser and Kith that can be cut, so that Kith itself need not be stopped."""

import socket
import struct
import threading
from contextlib import suppress

from playwright.sync_api import Page

AT_ONCE = struct.pack("ii", 1, 0)  # closed without a farewell, as a line that is gone


class Line:
    """Inside the block what goes to `url` goes on to the port, until it is cut; while it is down nothing gets through."""

    def __init__(self, port: int) -> None:
        self.port, self.is_down = port, False
        self.lost: set[socket.socket] = set()  # whose bytes get nowhere
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        self._ends: set[socket.socket] = set()

    def __enter__(self) -> "Line":
        threading.Thread(target=self._let_in, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._door.close()
        self.cut()

    def cut(self) -> None:
        """Cut all that is open now, whichever way its bytes were going."""
        for end in list(self._ends):
            self._drop(end)

    def fall(self) -> None:
        """Cut all, and let nothing through until `is_down` is False again."""
        self.is_down = True
        self.cut()

    def lose(self) -> None:
        """Let nothing more through of what is open now, without a word of it to either end."""
        self.lost |= self._ends

    def _let_in(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._door.accept()
                if self.is_down:
                    self._drop(near)
                    continue
                far = socket.create_connection(("127.0.0.1", self.port))
                self._ends |= {near, far}
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while some := source.recv(65536):
                if source not in self.lost:
                    target.sendall(some)
        if source in self.lost:
            return  # nor that an end closes it
        self._drop(source)
        self._drop(target)

    def _drop(self, end: socket.socket) -> None:
        self._ends.discard(end)
        with suppress(OSError):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            end.shutdown(socket.SHUT_RDWR)
        end.close()


def come_back(page: Page) -> None:
    """Tell the page that there is a network again, as the browser does: it need not wait out its pause."""
    page.evaluate("dispatchEvent(new Event('online'))")
