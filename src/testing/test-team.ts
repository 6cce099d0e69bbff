// A team for a test: its own data, clock, key and events.
import { randomBytes } from 'node:crypto'
import { toSeconds } from './durations.ts'
import { EventLog, type EventWaitOptions, type TeamEvent } from './event-log.ts'
import { call, DrawbridgeError, manage, type Organization } from './server-requests.ts'
import { WebhookReceiver, type ReceiverOptions } from './webhook-receiver.ts'

export type Region = 'us' | 'eu'

export interface TeamOptions {
  /** Default: `us`. */
  region?: Region
  /** Shown in lists of teams. */
  name?: string
}

/** The most jobs of a team that one advance may run: each call runs 2,000. */
const ADVANCE_CALLS_MAX = 500

/** What belongs to the present team, and not to the one before `reset()`. */
interface Current {
  id: string
  apiKey: string
  log: EventLog
  receivers: WebhookReceiver[]
}

export class TestTeam {
  readonly #org: Organization
  readonly #options: Required<TeamOptions>
  #current: Current

  private constructor(org: Organization, options: Required<TeamOptions>, current: Current) {
    this.#org = org
    this.#options = options
    this.#current = current
  }

  /** Use `drawbridge.createTeam()`. */
  static async create(org: Organization, { region = 'us', name = 'Test' }: TeamOptions): Promise<TestTeam> {
    const options = { region, name }
    return new TestTeam(org, options, await createTeam(org, options))
  }

  get id(): string {
    return this.#current.id
  }

  /** The team's sandbox key, for `x-service-api-key` and for `JunctionClient`. */
  get apiKey(): string {
    return this.#current.apiKey
  }

  /** The address of the server, for `JunctionClient`'s `environment`. */
  get url(): string {
    return this.#org.url
  }

  /** The team's events that have been read so far, oldest first. */
  get events(): readonly TeamEvent[] {
    return this.#current.log.events
  }

  /** As the global `fetch`, with the team's key; the path is one of the server's. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set('x-service-api-key', this.apiKey)
    return fetch(this.url + path, { ...init, headers })
  }

  /** Sends JSON with the team's key and returns the parsed body. @throws DrawbridgeError for a status of 400 or more */
  // oxlint-disable-next-line typescript/no-explicit-any -- each operation has a body of its own, and tests look into it
  call<Body = any>(method: string, path: string, body?: unknown): Promise<Body> {
    const options = body === undefined ? {} : { body }
    return call(this.url, { 'x-service-api-key': this.apiKey }, method, path, options) as Promise<Body>
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- as `call`
  get<Body = any>(path: string): Promise<Body> {
    return this.call<Body>('GET', path)
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- as `call`
  post<Body = any>(path: string, body: unknown = {}): Promise<Body> {
    return this.call<Body>('POST', path, body)
  }

  /** The time of the team. */
  async currentTime(): Promise<Date> {
    return new Date((await this.get<{ now: string }>('/v1/sandbox/clock')).now)
  }

  /**
   * Moves the team's clock forward by `'2 days'`, `'1 hour 30 minutes'` or a number of seconds, and runs what becomes due, in order, each at
   * its time. Other teams keep their time. @returns the new time of the team
   */
  async advance(duration: string | number): Promise<Date> {
    let seconds = toSeconds(duration)
    const end = (await this.currentTime()).getTime() + seconds * 1000
    for (let calls = 0; calls < ADVANCE_CALLS_MAX; calls++) {
      const { now, complete } = await this.post<{ now: string; complete: boolean }>('/v1/sandbox/clock/advance', { seconds })
      if (complete) return new Date(now)
      seconds = Math.max(1, Math.ceil((end - Date.parse(now)) / 1000))
    }
    throw new Error(
      `The clock of the team did not arrive after ${ADVANCE_CALLS_MAX} calls: its jobs cause further jobs without end.`,
    )
  }

  /**
   * The first event of a type since the team was created that matches, also one from before the call; `after` skips those up to an event.
   * @throws Error after the timeout, with the types that have occurred
   */
  waitForEvent(type: string, predicate?: (event: TeamEvent) => boolean, options?: EventWaitOptions): Promise<TeamEvent> {
    return this.#current.log.waitFor(type, predicate, options)
  }

  /** Opens a webhook endpoint on this machine that verifies signatures, and registers it for the team. */
  async createReceiver(options: ReceiverOptions = {}): Promise<WebhookReceiver> {
    const { id, receivers } = this.#current
    const path = `/team/${id}/sandbox/webhook`
    const secret = `whsec_${randomBytes(24).toString('base64')}`
    const receiver = await WebhookReceiver.open(options, secret, async (url) => {
      const body = { url, secret, ...(options.types && { filter_types: options.types }) }
      const endpoint = (await manage(this.#org, 'POST', path, { body })) as { id: string }
      return async () => {
        receivers.splice(receivers.indexOf(receiver), 1)
        await manage(this.#org, 'DELETE', `${path}/${endpoint.id}`)
      }
    })
    receivers.push(receiver)
    return receiver
  }

  /**
   * Replaces the team by a new one without data, at the time of the system: `id` and `apiKey` change, receivers are closed. A clock cannot
   * move back, so this is the only way to the state of a new team.
   */
  async reset(): Promise<void> {
    const former = this.#current
    this.#current = await createTeam(this.#org, this.#options)
    await deleteTeam(this.#org, former)
  }

  /** Deletes the team with its data and closes its receivers. A team that is already deleted is left as it is. */
  async delete(): Promise<void> {
    await deleteTeam(this.#org, this.#current)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.delete()
  }
}

async function createTeam(org: Organization, { region, name }: Required<TeamOptions>): Promise<Current> {
  const { id } = (await manage(org, 'POST', '/team', { body: { name, region } })) as { id: string }
  const body = { team_id: id, label: name }
  const key = (await manage(org, 'POST', `/team_api_keys/sandbox/${region}`, { body })) as { value: string }
  const log = new EventLog(org.url, key.value)
  await log.begin()
  return { id, apiKey: key.value, log, receivers: [] }
}

async function deleteTeam(org: Organization, { id, receivers }: Current): Promise<void> {
  try {
    await manage(org, 'DELETE', `/team/${id}`)
  } catch (error) {
    if (!(error instanceof DrawbridgeError && error.status === 404)) throw error
  } finally {
    await Promise.all(receivers.splice(0).map((receiver) => receiver.closeWithTeam()))
  }
}
