// Requests that make users, orders and other objects in the sandbox of a team, with fictional people. An error of the server ends the command.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { UsageError } from '../command-tree.ts'
import { assertOk, request, requestError, type ApiClient } from './api-client.ts'
import type { ListedEvent } from './events.ts'
import { applyOverrides, type Override } from './overrides.ts'
import { reportForm } from '../../lab-reports/parsing-jobs/example-report.ts'
import { examplePatient, examplePhysician } from '../../people/person/example-patient.ts'

const POLL_MS = 200
const WAIT_MS_MAX = 30_000
/** A query is evaluated half a minute after a change, at the latest. */
const QUERY_MS_MAX = 90_000

const REQUISITION = 'received.walk_in_test.requisition_created'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** The patient and the physician of an order: a lab account may require the customer's own physician. */
export const patient = { patient_details: examplePatient, physician: examplePhysician }
export const place = { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }

interface Order {
  id: string
  sample_id: string | null
}

/** The object of an event. */
export interface Subject {
  id: string
}

interface LabTest {
  id: string
  is_active: boolean
  lab: { slug: string }
}

export type FeedEvent = ListedEvent<{ user_id?: string; data: { status?: string; device_model?: string } }>

interface Events {
  data: FeedEvent[]
}

/** The response for a new order. */
export interface Ordered {
  order: Order
}

interface TestRun {
  status: string
  raw_result_id: string
  error: { message: string }
}

/** Free times by day. */
interface Availability {
  slots: { slots: { booking_key: string }[] }[]
}

const noManagement = (): { server: ApiClient; path: string } => {
  throw new Error('There is no management key.')
}

/** The requests in the sandbox of a team. An error of the server ends the command. */
export class Sandbox {
  readonly #remote: ApiClient
  readonly #overrides: Override[]
  readonly #managed: () => { server: ApiClient; path: string }

  /** @param openManagement the team by the Management API, for what takes a management key */
  constructor(remote: ApiClient, overrides: Override[] = [], openManagement = noManagement) {
    this.#remote = remote
    this.#managed = openManagement
    this.#overrides = overrides
  }

  async assertSandbox(): Promise<void> {
    const { status } = await this.#ask('GET', '/v1/sandbox/clock')
    if (status === 404) throw new Error('The key belongs to a production cell. This command works in sandbox cells only.')
    if (status !== 200) throw new Error(`The server at ${this.#remote.url} rejected the key (${status}).`)
  }

  /** One user for all scenarios: a sandbox has room for few. */
  user = async (): Promise<string> => (await this.userCalled('drawbridge-trigger')).id

  /** The user with a `client_user_id`, who is created if there is none. */
  async userCalled(client_user_id: string): Promise<{ id: string; is_new: boolean }> {
    const { status, body } = await this.#ask('POST', '/v2/user', { client_user_id })
    const id: unknown = status === 200 ? body.user_id : body?.detail?.user_id
    if (typeof id !== 'string') throw requestError('a user', status, body)
    return { id, is_new: status === 200 }
  }

  async labTest(method = 'testkit'): Promise<string> {
    const { status, body } = await this.#ask('GET', `/v3/lab_tests?collection_method=${method}`)
    const test = status === 200 ? (body as { id: string; is_active: boolean }[]).find((test) => test.is_active) : undefined
    if (!test) throw new Error(`The team has no lab test with collection method ${method}.`)
    return test.id
  }

  /** A result that needs a review before it has an order. */
  async createUnmatchedResult(): Promise<Subject> {
    const { data } = await this.get<{ data: { lab_constraints: string[] }[] }>('/v3/unmatched_result_test/case')
    const labs = new Set(data.flatMap(({ lab_constraints }) => lab_constraints))
    const tests = await this.get<LabTest[]>('/v3/lab_tests?collection_method=walk_in_test')
    const test = tests.find(({ is_active, lab }) => is_active && labs.has(lab.slug))
    if (!test) throw new Error('The team has no walk-in lab test of a lab that supports unmatched-result tests.')
    const body = { case: 'no_match', order_source: 'managed', lab_test_id: test.id }
    const { run_id } = await this.create<{ run_id: string }>('/v3/unmatched_result_test', body, {
      'x-idempotency-key': randomUUID(),
    })
    for (const end_ms = performance.now() + WAIT_MS_MAX; performance.now() < end_ms; await sleep(POLL_MS)) {
      const { status, raw_result_id, error } = await this.get<TestRun>(`/v3/unmatched_result_test/${run_id}`)
      if (status === 'succeeded') return { id: raw_result_id }
      if (status === 'failed') throw new Error(`The unmatched-result test failed: ${error.message}`)
    }
    throw new Error(`Timed out after ${WAIT_MS_MAX / 1000} s waiting for the result. Check that a worker is running.`)
  }

  /** A new connection of the user, in place of the one that the user may have. */
  async connect(provider: string): Promise<Subject> {
    const user_id = await this.user()
    const { status, body } = await this.#ask('DELETE', `/v2/user/${user_id}/${provider}`)
    if (status !== 200 && status !== 404) throw requestError('the end of a connection', status, body)
    await this.create(`/v2/link/provider/manual/${provider}`, { user_id })
    const { data } = await this.get<Events>('/v1/events?type=provider.connection.created&limit=250')
    const event = data.find((event) => event.body?.user_id === user_id)
    if (!event) throw new Error('The event of the connection is not listed.')
    return { id: event.object_id }
  }

  /** A new device of the user, known by its model, which records a heart rate with each of its versions. */
  async recordOnDevice(model: string, versions: string[]): Promise<Subject> {
    const user_id = await this.user()
    for (const [i, version] of versions.entries()) {
      const at = `2026-01-31T09:3${i}:00Z`
      const metadata = { _DMO: model, _DSV: version }
      const sample = { value: 61, unit: 'bpm', start_date: at, end_date: at, type: 'watch', metadata }
      await this.create(`/v2/timeseries/${user_id}/heartrate`, { stage: 'daily', provider: 'apple_health_kit', data: [sample] })
    }
    const { data } = await this.get<Events>('/v1/events?type=provider.device.created&limit=250')
    const event = data.find((event) => event.body?.data.device_model === model)
    if (!event) throw new Error('The event of the device is not listed.')
    return { id: event.object_id }
  }

  /** Records a sample of a demo connection, as soon as the history of the connection is written. */
  async recordDemoSample(sample: object): Promise<void> {
    const path = '/v1/sandbox/demo/sample'
    const body = applyOverrides(sample, this.#overrides)
    for (const end_ms = performance.now() + WAIT_MS_MAX; ; await sleep(POLL_MS)) {
      const answer = await this.#ask('POST', path, body)
      if (answer.status === 200) return
      if (answer.status !== 409 || performance.now() > end_ms) throw requestError(path, answer.status, answer.body)
    }
  }

  async uploadReport(): Promise<Subject> {
    if (this.#overrides.length) throw new UsageError('A lab report is a file: --override does not apply to it.')
    const { body: form, type } = reportForm(await this.user())
    const headers = { 'content-type': type }
    const path = '/lab_report/v1/parser/job'
    const { status, body } = await request(this.#remote, 'POST', path, { file: form, headers })
    if (status !== 200) throw requestError('the upload of a report', status, body)
    return body as Subject
  }

  async orderKit(): Promise<Order> {
    const shipping_details = { ...place, receiver_name: 'Testa Fictional', phone_number: examplePatient.phone_number }
    const body = { user_id: await this.user(), lab_test_id: await this.labTest(), shipping_details }
    return (await this.create<Ordered>('/v3/order/testkit', body)).order
  }

  /** An appointment for a new order that the laboratory has received. */
  async book(): Promise<{ order: Order; appointment: { id: string } }> {
    const { order } = await this.create<Ordered>('/v3/order', {
      user_id: await this.user(),
      lab_test_id: await this.labTest('walk_in_test'),
      ...patient,
      patient_address: place,
    })
    await this.post(`/v3/order/${order.id}/test?final_status=${REQUISITION}`, {})
    await this.waitForEvents(order.id, 'labtest.order.updated', 'received')
    const path = `/v3/order/psc/appointment/availability?lab=quest&zip_code=${place.zip}`
    const { slots } = await this.post<Availability>(path, undefined)
    const free = slots.flatMap((day) => day.slots)
    if (!free[0]) throw new Error('No PSC slots are available in the sandbox.')
    const { booking_key } = free[0]
    return { order, appointment: await this.post(`/v3/order/${order.id}/psc/appointment/book`, { booking_key }) }
  }

  /** Creates the object of the scenario: as `post`, with the fields that the user overrides. */
  create<B = unknown>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<B> {
    return this.post<B>(path, applyOverrides(body, this.#overrides), headers)
  }

  post<B = unknown>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<B> {
    return this.#expectOk<B>('POST', path, body, headers)
  }

  patch(path: string, body: unknown): Promise<unknown> {
    return this.#expectOk('PATCH', path, body)
  }

  get<B>(path: string): Promise<B> {
    return this.#expectOk<B>('GET', path)
  }

  /** The body of a successful response, in the shape that the API documents. */
  async #expectOk<B>(method: Method, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<B> {
    const answer = await this.#ask(method, path, body, headers)
    if (answer.status !== 200 && answer.status !== 202)
      throw requestError(path.replace(/[0-9a-f-]{36}/, '{id}'), answer.status, answer.body)
    return answer.body as B
  }

  /** The events of an object so far, oldest first, as soon as one has the type and, if the object has a status, one has that status. */
  async waitForEvents(object_id: string, type: string, finalStatus: string | undefined): Promise<FeedEvent[]> {
    for (const end_ms = performance.now() + WAIT_MS_MAX; performance.now() < end_ms; await sleep(POLL_MS)) {
      const { status, body } = await this.#ask('GET', `/v1/events?object_id=${object_id}&limit=250`)
      const events = status === 200 ? (body.data as FeedEvent[]).toReversed() : []
      const isThere = finalStatus === undefined || events.some(({ body }) => body?.data.status === finalStatus)
      if (isThere && events.some((event) => event.type === type)) return events
    }
    throw new Error(`Timed out after ${WAIT_MS_MAX / 1000} s waiting for the event. Check that a worker is running.`)
  }

  /** The id of the newest event of a type; null if there is none. */
  async newest(type: string): Promise<string | null> {
    const { data } = await this.get<Events>(`/v1/events?type=${type}&limit=1`)
    return data[0]?.id ?? null
  }

  /** The events of a type about a user that came after another one, oldest first, as soon as there is one. */
  async eventsSince(id: string | null, type: string, user_id: string): Promise<FeedEvent[]> {
    for (const end_ms = performance.now() + QUERY_MS_MAX; performance.now() < end_ms; await sleep(POLL_MS)) {
      const { data } = await this.get<Events>(`/v1/events?type=${type}&limit=250`)
      const known = data.findIndex((event) => event.id === id)
      const events = data.slice(0, known < 0 ? undefined : known).filter(({ body }) => body?.user_id === user_id)
      if (events.length) return events.toReversed()
    }
    throw new Error(`Timed out after ${QUERY_MS_MAX / 1000} s waiting for the event. Check that a worker is running.`)
  }

  /** A new query of the team, in place of the one that an earlier call has made. */
  async createQuery(query: object): Promise<Subject> {
    const { server, path } = this.#managed()
    const slug = 'drawbridge-trigger'
    const ask = async <B>(method: Method, rest: string, body?: object) => {
      const answer = await request(server, method, `${path}/continuous_query${rest}`, body ? { body } : {})
      return assertOk<B>(answer, 'a continuous query')
    }
    const { data } = await ask<{ data: { id: string; slug: string; archived_at?: string | null }[] }>('GET', '')
    for (const one of data) if (one.slug.startsWith(slug) && !one.archived_at) await ask('DELETE', `/${one.id}`)
    const title = 'Mean heart rate by day'
    return ask('POST', '', applyOverrides({ slug: `${slug}-${randomUUID()}`, title, query }, this.#overrides) as object)
  }

  /** Ends the connection of a user to a provider, if there is one, and deletes what came from it. */
  async forget(user_id: string, provider: string): Promise<void> {
    const { status, body } = await this.#ask('DELETE', `/v2/user/${user_id}/${provider}?delete_data=true`)
    if (status !== 200 && status !== 404) throw requestError('the end of a connection', status, body)
  }

  async #ask(method: Method, path: string, body?: unknown, headers: Record<string, string> = {}) {
    return request(this.#remote, method, path, { headers, ...(body !== undefined && { body }) })
  }
}

/** The scenario that triggers a type. */
export interface Scenario {
  tells: string
  /** The final status of the scenario's object, if it has one. */
  finalStatus?: string
  /** @returns the object of the event, or its user with the newest event of the type before: there may be several objects */
  run: (sandbox: Sandbox, type: string) => Promise<{ id: string; previousEventId?: string | null }>
}
