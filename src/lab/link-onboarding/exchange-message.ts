// Sends one message over MLLP on a connection of its own and waits for its answer, to try a link.
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { FrameReader, frameOf } from '../hl7/frame-reader.ts'
import { readOrderAnswer } from '../hl7/order-answer.ts'
import { connectTo, type Destination } from '../link-transports/secure-connect.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'

const ANSWER_BYTES_MAX = 1_000_000

/** Where messages to the laboratory go, and with which TLS. */
export const destinationOf = ({
  host,
  port,
  tls,
  server_name,
  authority,
  certificate,
  key,
}: LinkProfile['transport']['client']): Destination => ({
  host,
  port,
  tls: tls ? { server_name, authorities: authority, certificate, key } : undefined,
})

/**
 * The last answer to a message: after a commit acknowledgment the one that follows it, if it comes in time. Undefined: there was none.
 * Errors: those of `connectTo`.
 */
export async function exchangeMessage(
  { client }: LinkProfile['transport'],
  { targets, isSandbox }: { targets: TargetPolicy; isSandbox: boolean },
  bytes: Uint8Array,
  control_id: string,
): Promise<Buffer | undefined> {
  const socket = await connectTo(destinationOf(client), targets, isSandbox)
  const reader = new FrameReader({ bytesMax: ANSWER_BYTES_MAX, endsWithoutReturn: true })
  let last: Buffer | undefined
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, client.answer_timeout_s * 1000)
  socket.on('data', (chunk: Buffer) => {
    for (const frame of reader.push(chunk)) {
      const code = codeOfAnswer(frame.bytes, control_id)
      if (code === undefined) continue
      last = frame.bytes
      if (code !== 'CA') resolve()
    }
  })
  socket.once('close', () => resolve())
  socket.write(frameOf(bytes))
  await promise
  clearTimeout(timer)
  socket.destroy()
  return last
}

/** The code of an answer to this message; undefined for anything else. */
function codeOfAnswer(bytes: Buffer, control_id: string): string | undefined {
  try {
    const answer = readOrderAnswer(bytes)
    return answer.control_id === control_id ? answer.code : undefined
  } catch {
    // Not an answer; a trial takes no messages on this connection.
    return undefined
  }
}
