"""The log and the commands of a peer: JSON lines in a file, and JSON lines on the standard input."""

import asyncio
import base64
import hashlib
import json
import os
import sys
import threading
import time

# python-hl7 reads blocks of 64 KiB by default.
LIMIT = 64 * 1024 * 1024
# Every byte is one character, so that decoding and encoding change nothing.
ENCODING = "latin-1"
# The log contains the bytes of shorter messages.
LOGGED_BYTES_MAX = 1024 * 1024


class Journal:
    """Appends lines to a file. A line is in the file before the peer takes its next step."""

    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, event, **fields):
        line = json.dumps({"event": event, "time": time.time(), **fields}) + "\n"
        os.write(self.file, line.encode())


def describe(block):
    """The digest and the length of a message, its header fields, and its bytes."""
    lines = block.split(b"\r")
    fields = lines[0].split(block[3:4]) if block[:3] == b"MSH" else []
    answer = next((line.split(block[3:4]) for line in lines if line[:3] == b"MSA"), [])

    def text(list_, index):
        return list_[index].decode(ENCODING) if len(list_) > index else None

    return {
        "type": text(fields, 8),
        "control_id": text(fields, 9),
        "code": text(answer, 1),
        "answered_id": text(answer, 2),
        "digest": hashlib.sha256(block).hexdigest(),
        "length": len(block),
        "bytes": base64.b64encode(block).decode() if len(block) <= LOGGED_BYTES_MAX else None,
    }


def reply(**fields):
    """Writes a line to the test."""
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def read_commands():
    """A queue of the commands of the test. The process ends with the input, and so with the test."""
    loop, queue = asyncio.get_running_loop(), asyncio.Queue()

    def read():
        for line in sys.stdin:
            loop.call_soon_threadsafe(queue.put_nowait, json.loads(line))
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return queue
