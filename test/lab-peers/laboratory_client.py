"""A laboratory that sends messages over MLLP, written with python-hl7.

The first argument is JSON: {"port", "log", "tls": {"cert", "key", "ca", "name"}}. Each command has an `id`, which its reply repeats.

  {"command": "send", "bytes"}    sends a message in a frame and waits for its acknowledgment
      connection   name of the connection, "main" by default; it is opened when it is first used
      timeout_s    seconds until the acknowledgment is missing, 10 by default
      attempts     number of times that the same bytes are sent, over a new connection each time, until they are acknowledged; 1 by default
      chunk_bytes  length of the pieces that the frame is written in; pause_s between two of them
  {"command": "raw", "bytes"}     writes bytes without a frame, and waits for `answers` frames; `close`: then closes the connection
  {"command": "disconnect", "connection"}
"""

import asyncio
import base64
import json
import ssl
import sys

from hl7.mllp import open_hl7_connection

from journal import ENCODING, LIMIT, Journal, describe, read_commands, reply


class Sender:
    def __init__(self, options):
        self.options = options
        self.log = Journal(options["log"])
        self.connections = {}
        self.locks = {}

    async def connect(self, name):
        if name not in self.connections:
            tls = self.options.get("tls")
            more = {"ssl": context(tls), "server_hostname": tls.get("name", "localhost")} if tls else {}
            self.connections[name] = await open_hl7_connection(
                "127.0.0.1", self.options["port"], limit=LIMIT, encoding=ENCODING, **more
            )
        return self.connections[name]

    def close(self, name):
        if name in self.connections:
            self.connections.pop(name)[1].transport.abort()

    async def run(self, command):
        """Commands of one connection run one after the other."""
        name = command.get("connection", "main")
        async with self.locks.setdefault(name, asyncio.Lock()):
            try:
                result = await getattr(self, command["command"])(name, command)
            except Exception as error:
                result = {"error": repr(error)}
        reply(event="done", id=command["id"], **result)

    async def send(self, name, command):
        block = base64.b64decode(command["bytes"])
        fields = describe(block)
        error = None
        for attempt in range(1, command.get("attempts", 1) + 1):
            try:
                reader, writer = await self.connect(name)
                self.log.write("sent", connection=name, attempt=attempt, **fields)
                await self.write(writer, b"\x0b" + block + b"\x1c\r", command)
                answer = await asyncio.wait_for(reader.readblock(), command.get("timeout_s", 10))
                answered = describe(answer)
                self.log.write("answered", connection=name, sent_id=fields["control_id"], sent_digest=fields["digest"], **answered)
                return {"answer": base64.b64encode(answer).decode(), "code": answered["code"], "answered_id": answered["answered_id"]}
            except (OSError, EOFError, asyncio.TimeoutError) as failure:
                error = failure
                self.log.write("unanswered", connection=name, error=repr(failure), control_id=fields["control_id"])
                self.close(name)
                if attempt < command.get("attempts", 1):
                    await asyncio.sleep(command.get("retry_s", 0.2))
        return {"error": repr(error)}

    async def raw(self, name, command):
        reader, writer = await self.connect(name)
        data = base64.b64decode(command["bytes"])
        self.log.write("sent raw", connection=name, length=len(data))
        await self.write(writer, data, command)
        answers = []
        for _ in range(command.get("answers", 0)):
            block = await asyncio.wait_for(reader.readblock(), command.get("timeout_s", 10))
            self.log.write("answered", connection=name, **describe(block))
            answers.append(base64.b64encode(block).decode())
        if command.get("close"):
            self.close(name)
        return {"answers": answers}

    async def write(self, writer, data, command):
        size = command.get("chunk_bytes", len(data)) or len(data)
        for start in range(0, len(data), size):
            writer.write(data[start : start + size])
            await writer.drain()
            if "pause_s" in command:
                await asyncio.sleep(command["pause_s"])

    async def disconnect(self, name, _command):
        self.close(name)
        return {}


def context(tls):
    made = ssl.create_default_context(cafile=tls["ca"])
    if tls.get("cert"):
        made.load_cert_chain(tls["cert"], tls["key"])
    return made


async def main(options):
    sender = Sender(options)
    commands = read_commands()
    reply(event="ready")
    running = set()
    while True:
        task = asyncio.create_task(sender.run(await commands.get()))
        running.add(task)
        task.add_done_callback(running.discard)


asyncio.run(main(json.loads(sys.argv[1])))
