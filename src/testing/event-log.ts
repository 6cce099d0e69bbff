// The events of a team as its feed has them, kept so that a test may wait for one that has already occurred.
import { call } from './server-requests.ts'

/** How many events are kept; of more, the oldest are forgotten. */
const EVENTS_MAX = 10_000
/** How long one request waits for events. The server allows 25 s. */
const WAIT_S = 20
const PAGE_EVENTS = 250
const TIMEOUT_MS = 10_000

/** An event in the form in which a webhook delivers it. */
export interface EventBody {
  event_type: string
  // oxlint-disable-next-line typescript/no-explicit-any -- each type of event has data of its own, and tests look into it
  data: any
  team_id: string
  user_id?: string
  client_user_id?: string
}

export interface TeamEvent {
  /** As in the headers `svix-id` and `webhook-id` of a delivery. */
  id: string
  type: string
  object_id: string
  created_at: string
  body: EventBody
}

export interface WaitOptions {
  /** Milliseconds. Default: 10,000. */
  timeout?: number
}

export interface EventWaitOptions extends WaitOptions {
  /** Only events that occurred after this one. Default: all since the team was created. */
  after?: TeamEvent
}

/** Waits for a match of a growing list. @throws Error after the timeout, with what has been seen */
export async function waitForMatch<Item>(
  find: () => Item | undefined,
  loadMore: (signal: AbortSignal) => Promise<void>,
  timeout: number,
  failure: () => string,
): Promise<Item> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), timeout)
  try {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      if (limit.signal.aborted) throw new Error(failure())
      await loadMore(limit.signal)
    }
  } finally {
    clearTimeout(timer)
  }
}

interface Page {
  /** A body that is null is deleted. */
  data: (Omit<TeamEvent, 'body'> & { body: string | null })[]
  next_cursor: string
}

export class EventLog {
  readonly #url: string
  readonly #headers: Record<string, string>
  #events: TeamEvent[] = []
  #cursor: string | undefined
  /** The request under way, which all waiting callers share; it is aborted when none waits any more. */
  #reading: Promise<void> | undefined
  #abort = new AbortController()
  #waiting = 0

  constructor(url: string, apiKey: string) {
    this.#url = url
    this.#headers = { 'x-service-api-key': apiKey }
  }

  /** Has the server keep the team's events from now on. */
  async begin(): Promise<void> {
    await this.#request('start=newest', AbortSignal.timeout(TIMEOUT_MS))
  }

  /** The events that have been read so far, oldest first. */
  get events(): readonly TeamEvent[] {
    return this.#events
  }

  /** The first event that matches. @throws Error after the timeout, with the types that have occurred */
  async waitFor(
    type: string,
    predicate: (event: TeamEvent) => boolean = () => true,
    { timeout = TIMEOUT_MS, after }: EventWaitOptions = {},
  ): Promise<TeamEvent> {
    const isLater = (index: number) => !after || index > this.#events.findIndex(({ id }) => id === after.id)
    const find = () => this.#events.find((event, i) => event.type === type && isLater(i) && predicate(event))
    this.#waiting++
    try {
      return await waitForMatch(
        find,
        (signal) => this.#more(signal),
        timeout,
        () => {
          const seen = [...new Set(this.#events.map((event) => event.type))].join(', ') || 'none'
          return `No ${type} that matches occurred within ${timeout} ms. Types of the events so far: ${seen}.`
        },
      )
    } finally {
      if (--this.#waiting === 0) {
        this.#abort.abort()
        this.#abort = new AbortController()
      }
    }
  }

  /** Returns when further events have been read, or when the signal aborts. */
  async #more(signal: AbortSignal): Promise<void> {
    this.#reading ??= this.#read(this.#abort.signal).finally(() => (this.#reading = undefined))
    let abort = () => {}
    const aborted = new Promise<void>((resolve) => (abort = resolve))
    signal.addEventListener('abort', abort, { once: true })
    await Promise.race([this.#reading, aborted]).finally(() => signal.removeEventListener('abort', abort))
  }

  async #read(signal: AbortSignal): Promise<void> {
    const query = new URLSearchParams({ wait_s: String(WAIT_S), limit: String(PAGE_EVENTS), next_cursor: this.#cursor! })
    try {
      await this.#request(query.toString(), signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  async #request(query: string, signal: AbortSignal): Promise<void> {
    const page = (await call(this.#url, this.#headers, 'GET', `/v1/events/follow?${query}`, { signal })) as Page
    this.#cursor = page.next_cursor
    for (const { body, ...event } of page.data)
      if (body !== null) this.#events.push({ ...event, body: JSON.parse(body) as EventBody })
    if (this.#events.length > EVENTS_MAX) this.#events = this.#events.slice(-EVENTS_MAX)
  }
}
