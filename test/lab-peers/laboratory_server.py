"""A laboratory that receives orders over MLLP, written with python-hl7. It answers by its mode, which a test changes.

The first argument is JSON: {"port", "log", "tls": {"cert", "key", "ca"}}. A command is a mode: a JSON object with any of

  code             MSA-1 of the answer, "AA" by default
  commit           MSA-1 of an acknowledgment before the answer, for the enhanced mode
  without_answer   the commit acknowledgment is the only one
  error            text for MSA-3 and ERR-8
  type             "ACK" (default), "ORL^O22", "ORR^O02"
  order_control    ORC-1 of each order of an ORL or ORR, "OK" by default
  order_status     ORC-5 of it
  delay_s          seconds before the answer
  fault            "deaf": reads and never answers; "wrong_id": MSA-2 of another message; "half_answer": half of the answer, and no more;
                   "half_answer_then_close"; "close": closes the connection instead of answering; "close_after_bytes": after `bytes` bytes
  unanswered_deliveries          number of deliveries of each control id that get no answer, each with its connection closed
  times            number of deliveries that the mode applies to; then the peer accepts as at its start
"""

import asyncio
import json
import ssl
import sys

import hl7
from hl7.mllp import start_hl7_server

from journal import ENCODING, LIMIT, Journal, describe, read_commands, reply


class Laboratory:
    def __init__(self, log):
        self.log = log
        self.mode = {}
        self.connections = 0
        self.deliveries = {}
        self.fillers = {}

    def take_mode(self):
        """The mode of the next delivery."""
        mode = self.mode
        if "times" in mode:
            left = mode["times"] - 1
            self.mode = {**mode, "times": left} if left > 0 else {}
        return mode

    async def serve(self, reader, writer):
        self.connections += 1
        number = self.connections
        self.log.write("connected", connection=number)
        try:
            while await self.receive(number, reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            partial = getattr(error, "partial", b"")
            self.log.write("disconnected", connection=number, partial=len(partial))
        except Exception as error:  # a block that is none
            self.log.write("failed", connection=number, error=repr(error))
        writer.transport.abort()

    async def receive(self, number, reader, writer):
        """Receives one message. Returns whether the connection stays open."""
        if self.mode.get("fault") == "close_after_bytes":
            mode = self.take_mode()
            await reader.readexactly(mode["bytes"])
            self.log.write("closed", connection=number)
            return False
        block = await reader.readblock()
        mode = self.take_mode()
        fields = describe(block)
        key = (fields["control_id"], fields["digest"])
        self.deliveries[key] = self.deliveries.get(key, 0) + 1
        self.log.write("received", connection=number, delivery=self.deliveries[key], **fields)
        fault = mode.get("fault")
        if fault == "deaf":
            return True
        if fault == "close" or self.deliveries[key] <= mode.get("unanswered_deliveries", 0):
            self.log.write("closed", connection=number)
            return False
        return await self.answer(number, writer, block, mode)

    async def answer(self, number, writer, block, mode):
        message = hl7.parse(block.decode(ENCODING))
        if "commit" in mode:
            await self.send(number, writer, acknowledge(message, mode["commit"], mode if mode.get("without_answer") else {}))
            if mode.get("without_answer"):
                return True
        await asyncio.sleep(mode.get("delay_s", 0))
        answer = acknowledge(message, mode.get("code", "AA"), mode)
        if mode.get("type", "ACK") != "ACK":
            self.append_orders(message, answer, mode)
        if not mode.get("fault", "").startswith("half_answer"):
            await self.send(number, writer, answer)
            return True
        data = b"\x0b" + str(answer).encode(ENCODING)
        writer.write(data[: len(data) // 2])
        await writer.drain()
        self.log.write("sent half", connection=number)
        return mode["fault"] == "half_answer"

    async def send(self, number, writer, message):
        block = str(message).encode(ENCODING)
        writer.writeblock(block)
        await writer.drain()
        self.log.write("sent", connection=number, **describe(block))

    def append_orders(self, message, answer, mode):
        """Makes an ACK an answer to orders, with the laboratory's numbers. An order keeps its number when it comes again."""
        component, trigger = mode["type"].split("^")
        answer["MSH"][0].assign_field(component, 9, 1, 1)
        answer["MSH"][0].assign_field(trigger, 9, 1, 2)
        answer["MSH"][0].assign_field(f"{component}_{trigger}", 9, 1, 3)
        orders = [segment for segment in message if str(segment[0]) in ("PID", "ORC", "OBR")]
        placer = ""
        for index, source in enumerate(orders):
            segment = hl7.parse(str(message[0]) + "\r" + str(source) + "\r")[1]
            name = str(segment[0])
            if name == "ORC":
                placer = str(source[2]) if len(source) > 2 else ""
                segment.assign_field(mode.get("order_control", "OK"), 1)
                segment.assign_field(mode.get("order_status", ""), 5)
            if name != "PID":
                segment.assign_field(self.filler(placer), 3)
            answer.append(segment)

    def filler(self, placer):
        return self.fillers.setdefault(placer, f"PYLAB-{len(self.fillers) + 1}")


def acknowledge(message, code, mode):
    control_id = str(message.segment("MSH")[10])
    answer = message.create_ack(code)
    msa = answer.segment("MSA")
    msa.assign_field(control_id, 2)
    if mode.get("fault") == "wrong_id":
        msa.assign_field("NOT-" + control_id, 2)
    if "error" in mode:
        msa.assign_field(mode["error"], 3)
        answer.append(hl7.parse(str(message[0]) + "\rERR|||207^Application internal error^HL70357|E||||" + mode["error"] + "\r")[1])
    return answer


def context(tls):
    if not tls:
        return None
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(tls["cert"], tls["key"])
    if tls.get("ca"):
        made.load_verify_locations(tls["ca"])
        made.verify_mode = ssl.CERT_REQUIRED
    return made


async def main(options):
    laboratory = Laboratory(Journal(options["log"]))
    server = await start_hl7_server(
        laboratory.serve,
        "127.0.0.1",
        options.get("port", 0),
        limit=LIMIT,
        encoding=ENCODING,
        ssl=context(options.get("tls")),
        reuse_address=True,
    )
    commands = read_commands()
    reply(event="ready", port=server.sockets[0].getsockname()[1])
    while True:
        laboratory.mode = await commands.get()
        reply(event="mode")


asyncio.run(main(json.loads(sys.argv[1])))
