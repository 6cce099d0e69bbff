// `bin/drawbridge listen`: prints the events of a team as they occur, one line each, and forwards them with a signature to a developer's
// machine. It is a client of a running server and stores nothing there. It prints times, types and ids, and personal data only if
// it is asked for payloads.
import { setTimeout as sleep } from 'node:timers/promises'
import { signatureHeaders, signingKey, withPrefix } from '../../events/endpoints/signature.ts'
import { systemNow } from '../../platform/runtime/clock.ts'
import { version } from '../../platform/runtime/version.ts'
import { UsageError, type ClientContext } from '../command-tree.ts'
import { networkErrorCode } from '../network-errors.ts'
import {
  type ApiClient,
  type ApiResponse,
  createApiClient,
  isHttpUrl,
  NoResponseError,
  type RemoteValues,
  request,
} from './api-client.ts'
import type { ListedEvent } from './events.ts'
import { keptSecret } from './listen-secrets.ts'

const WAIT_S = 20
const RETRY_MS = 250
const RETRY_MS_MAX = 5000

const SECRET = /^(whsec_)?[a-zA-Z0-9+/=]{32,100}$/

/** The signal stops the command. */
type ListenContext = ClientContext & { signal: AbortSignal }

interface ListenOptions {
  remote: () => ApiClient
  forward_to: string | undefined
  types: string[]
  secret: string
  prints_payload: boolean
}

/** Runs `listen`. Returns when the signal aborts. @throws UsageError, or Error if the server rejects us */
export async function listen(values: Values, context: ListenContext): Promise<void> {
  const options = await parseListenOptions(values, context.env)
  const feed = new EventFeedClient(options, context)
  let events = await feed.startPosition()
  const forward = options.forward_to === undefined ? undefined : createForwarder(options.forward_to, options.secret, context)
  while (!context.signal.aborted) {
    for (const event of events) {
      if (context.signal.aborted) return
      if (event.body === null) {
        context.printNow(formatEventLine(event, 'its body is deleted'))
        continue
      }
      if (options.prints_payload) context.printNow(`${JSON.stringify(JSON.parse(event.body), null, 2)}\n`)
      if (forward) await forward({ ...event, body: event.body })
      else context.printNow(formatEventLine(event))
    }
    events = await feed.next()
  }
}

interface Values extends RemoteValues {
  forwardTo?: string
  events?: string
  secret?: string
  printPayload?: boolean
}

async function parseListenOptions(values: Values, env: ListenContext['env']): Promise<ListenOptions> {
  const types = (values.events ?? '')
    .split(',')
    .map((type) => type.trim())
    .filter(Boolean)
  const unknown = types.length ? await unknownTypes(types) : []
  if (unknown.length) throw new UsageError(`Unrecognized event type ${unknown.join(', ')}.`)
  const forward_to = values.forwardTo
  if (forward_to !== undefined && !isHttpUrl(forward_to)) throw new UsageError('--forward-to must be an http or https URL.')
  if (values.secret !== undefined && !SECRET.test(values.secret))
    throw new UsageError('--secret must be 24 to 75 bytes in base64, with or without whsec_.')
  const remote = () => createApiClient(values, env)
  const kept = () =>
    forward_to === undefined ? '' : keptSecret(env.DATA_DIR?.trim() || './data', { key: remote().key, forward_to })
  const secret = withPrefix(values.secret ?? kept())
  return { remote, forward_to, types, secret, prints_payload: values.printPayload ?? false }
}

async function unknownTypes(types: string[]): Promise<string[]> {
  // The modules of the program take a second to load.
  const { contents } = await import('../../app/contents.ts')
  const known = new Set(contents.eventTypes.flatMap(({ name, family }) => (family === 'operational' ? [] : [name])))
  return types.filter((type) => !known.has(type))
}

/** The team's events from now on, across reconnects. */
class EventFeedClient {
  readonly #options: ListenOptions
  readonly #context: ListenContext
  #remote: ApiClient
  #cursor: string | undefined
  #hasConnected = false

  constructor(options: ListenOptions, context: ListenContext) {
    this.#options = options
    this.#context = context
    this.#remote = options.remote()
  }

  /** Finds the latest position of the feed and prints it. @returns the events at that position */
  async startPosition(): Promise<ReceivedEvent[]> {
    const events = await this.next()
    if (this.#context.signal.aborted) return events
    const { forward_to, types, secret } = this.#options
    const to = forward_to === undefined ? [] : [`Forwarding to   ${forward_to}`, `Signing secret  ${secret}`]
    const what = types.length ? types.join(', ') : 'all events'
    this.#context.printNow([`Listening at    ${this.#remote.url} (${what})`, ...to, ''].join('\n'))
    return events
  }

  /** The events since the last call; empty after the time limit or the signal. */
  async next(): Promise<ReceivedEvent[]> {
    const { signal, printNow } = this.#context
    for (let pause_ms = 0; !signal.aborted;) {
      const answer = await this.#ask()
      if (answer?.status === 200) {
        if (pause_ms) printNow('Reconnected.\n')
        this.#cursor = answer.body.next_cursor as string
        return answer.body.data as ReceivedEvent[]
      }
      if (signal.aborted) break
      if (answer?.status === 400 && this.#cursor !== undefined) {
        printNow('Cursor expired; resuming from the latest event.\n')
        this.#cursor = undefined
        continue
      }
      if (answer && answer.status < 500 && answer.status !== 429 && !this.#advanceCursor())
        throw new Error(`The server at ${this.#remote.url} rejected the request: ${answer.status} ${detailOf(answer)}`)
      if (!pause_ms) printNow('Server unreachable; retrying.\n')
      pause_ms = Math.min(Math.max(pause_ms * 2, RETRY_MS), RETRY_MS_MAX)
      await sleep(Math.max(pause_ms, (answer?.retry_after_s ?? 0) * 1000), undefined, { signal }).catch(() => {})
      this.#advanceCursor()
    }
    return []
  }

  /** Undefined: no response. */
  async #ask(): Promise<ApiResponse | undefined> {
    const query = new URLSearchParams()
    if (this.#cursor === undefined) query.set('start', 'newest')
    else {
      query.set('next_cursor', this.#cursor)
      query.set('wait_s', String(WAIT_S))
    }
    for (const type of this.#options.types) query.append('type', type)
    const { signal } = this.#context
    try {
      const answer = await request(this.#remote, 'GET', `/v1/events/follow?${query}`, { signal })
      this.#hasConnected = true
      return answer
    } catch (error) {
      // Only a server that was there is waited for.
      if (error instanceof NoResponseError && this.#hasConnected) return undefined
      if (signal.aborted) return undefined
      throw error
    }
  }

  /** Reads the current address and key. @returns whether either has changed */
  #advanceCursor(): boolean {
    const before = this.#remote
    this.#remote = this.#options.remote()
    return before.url !== this.#remote.url || before.key !== this.#remote.key
  }
}

const detailOf = ({ body }: ApiResponse): string => (typeof body?.detail === 'string' ? body.detail : '')

const FORWARD_MS_MAX = 15_000
/** Pauses before the second attempt to forward an event, the third, the fourth; then the next event follows. */
const PAUSES_MS = [500, 2000, 5000]

/** An event in the format of the event feed. */
export type ReceivedEvent = ListedEvent<string>

type WholeEvent = ReceivedEvent & { body: string }

/** The printed line of an event, without personal data. */
export const formatEventLine = ({ created_at, type, object_id }: ReceivedEvent, outcome = ''): string =>
  `${created_at}  ${type}  ${object_id}${outcome && `  ${outcome}`}\n`

/** Forwards events one after another: the next event follows when the previous one was accepted or abandoned. */
export function createForwarder(
  url: string,
  secret: string,
  { printNow, signal }: Omit<ListenContext, 'env'>,
): (event: WholeEvent) => Promise<void> {
  const key = signingKey(secret)
  return async (event) => {
    for (let attempt = 0; !signal.aborted; attempt++) {
      const fault = await post(url, event, key, signal, (outcome) => printNow(formatEventLine(event, outcome)))
      if (fault === undefined || signal.aborted) return
      const pause_ms = PAUSES_MS[attempt]
      printNow(formatEventLine(event, `${fault}, ${pause_ms === undefined ? 'giving up' : `retrying in ${pause_ms / 1000} s`}`))
      if (pause_ms === undefined) return
      await sleep(pause_ms, undefined, { signal }).catch(() => {})
    }
  }
}

/** @returns the error; undefined if the receiver has accepted the event */
async function post(
  url: string,
  event: WholeEvent,
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
