// Forwards an event to a developer's machine, signed as a delivery. It prints failures and retries a few times.
import { setTimeout as sleep } from 'node:timers/promises'
import { systemNow } from '../../platform/runtime/clock.ts'
import { networkErrorCode } from '../network-errors.ts'
import { version } from '../../platform/runtime/version.ts'
import { signatureHeaders, signingKey } from '../../events/endpoints/signature.ts'

const FORWARD_MS_MAX = 15_000
/** Pauses before the second attempt to forward an event, the third, the fourth; then the next event follows. */
const PAUSES_MS = [500, 2000, 5000]

/** An event in the format of the event feed. */
export interface ReceivedEvent {
  id: string
  type: string
  object_id: string
  created_at: string
  body: string
}

interface CommandContext {
  out: (text: string) => void
  signal: AbortSignal
}

/** The printed line of an event, without personal data. */
export const formatEventLine = ({ created_at, type, object_id }: ReceivedEvent, outcome = ''): string =>
  `${created_at}  ${type}  ${object_id}${outcome && `  ${outcome}`}\n`

/** Forwards events one after another: the next event follows when the previous one was accepted or abandoned. */
export function createForwarder(
  url: string,
  secret: string,
  { out, signal }: CommandContext,
): (event: ReceivedEvent) => Promise<void> {
  const key = signingKey(secret)
  return async (event) => {
    for (let attempt = 0; !signal.aborted; attempt++) {
      const fault = await post(url, event, key, signal, (outcome) => out(formatEventLine(event, outcome)))
      if (fault === undefined || signal.aborted) return
      const pause_ms = PAUSES_MS[attempt]
      out(formatEventLine(event, `${fault}, ${pause_ms === undefined ? 'giving up' : `retrying in ${pause_ms / 1000} s`}`))
      if (pause_ms === undefined) return
      await sleep(pause_ms, undefined, { signal }).catch(() => {})
    }
  }
}

/** @returns the error; undefined if the receiver has accepted the event */
async function post(
  url: string,
  event: ReceivedEvent,
  key: ReturnType<typeof signingKey>,
  signal: AbortSignal,
  isAcknowledged: (outcome: string) => void,
): Promise<string | undefined> {
  const started = performance.now()
  const headers = {
    ...signatureHeaders([key], event.id, Math.floor(systemNow().getTime() / 1000), Buffer.from(event.body)),
    'content-type': 'application/json',
    'user-agent': `Drawbridge/${version} listen`,
  }
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: event.body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(FORWARD_MS_MAX)]),
    })
    await response.body?.cancel()
    if (!response.ok) return `HTTP ${response.status}`
    isAcknowledged(`HTTP ${response.status} in ${Math.round(performance.now() - started)} ms`)
    return undefined
  } catch (error) {
    return networkErrorCode(error)
  }
}
