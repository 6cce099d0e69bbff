// A laboratory of this machine that acknowledges every message over MLLP.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after } from 'node:test'
import { acknowledge, type AcknowledgmentCode } from '../../src/lab/hl7/acknowledgment.ts'
import { FrameReader, frameOf } from '../../src/lab/hl7/frame-reader.ts'
import { readHl7Header, type MessageHeader } from '../../src/lab/hl7/message-header.ts'

/** @param choose the code of the answer to a message, or a promise that it waits for; default: `AA` @returns its port */
export async function startLaboratory(
  choose: (header: MessageHeader) => AcknowledgmentCode | Promise<AcknowledgmentCode> = () => 'AA',
): Promise<number> {
  const server = createServer((socket) => {
    const reader = new FrameReader({ bytesMax: 1_000_000, endsWithoutReturn: false })
    socket.on('error', () => socket.destroy())
    socket.on('data', async (chunk: Buffer) => {
      for (const { bytes } of reader.push(chunk)) {
        const header = readHl7Header(bytes)
        const code = await choose(header)
        socket.write(frameOf(acknowledge(header, { code, text: 'Fictional refusal', controlId: '1', sentAt: '20300104' })))
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return (server.address() as { port: number }).port
}
