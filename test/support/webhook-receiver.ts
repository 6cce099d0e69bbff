// Receivers of webhooks for tests: they run on this machine, send the responses that a test sets, and record the requests. Deliveries run
// when a test starts them, without the pauses of the retry schedule.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { systemNow } from '../../src/platform/runtime/clock.ts'
import { createLog } from '../../src/platform/telemetry/log.ts'
import { emit } from '../../src/platform/queue/outbox.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { cells, metrics, pubsub_projects, targets, vault, type TestTeam } from './server.ts'
import { findDeletedUsers } from '../../src/people/users/users.ts'
import { createDeliveryWorker, type DeliveryOptions, type DeliveryWorker } from '../../src/events/delivery/delivery-worker.ts'

export const ATTEMPTS = 8

/** One for all: each looks four times a second for what it has to write, for as long as the process lives. */
const log = createLog(process.env.TEST_LOG_LEVEL ?? 'silent')

export const deliveryOptions = (changes: Partial<DeliveryOptions> = {}): DeliveryOptions => ({
  vault,
  targets,
  findDeletedUsers,
  pubsub_projects,
  pubsub_emulator_host: undefined,
  clock: systemNow,
  schedule_s: Array<number>(ATTEMPTS).fill(0),
  log,
  metrics,
  product: 'Drawbridge/test',
  // Receivers of tests answer at once; on a machine that is busy with other tests that takes a second and more.
  attempt_ms_max: 15_000,
  ...changes,
})

/** A delivery of the test's own; connections are closed when the tests are over. */
export function delivering(changes: Partial<DeliveryOptions> = {}): DeliveryWorker {
  const delivery = createDeliveryWorker(cells, deliveryOptions(changes))
  stops.push(() => delivery.stop())
  return delivery
}
const stops: (() => Promise<void>)[] = []
after(async () => {
  for (const stop of stops) await stop()
})

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
}

type ReceiverReply = (request: Received, response: ServerResponse, message: IncomingMessage) => void

/** A receiver. `answers` is asked for each request; without one everything is welcome. */
export async function receiver(answer: ReceiverReply = (_received, response) => response.end('thanks')) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() }
      received.push(one)
      answer(one, response, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hook`, port, received, server }
}

/** An endpoint of a team, and its path below the organization. */
export async function endpoint(team: TestTeam, body: Record<string, unknown>, environment = 'sandbox') {
  const path = `/team/${team.team}/${environment}/webhook`
  const reply = await team.manage.post(path, body)
  if (reply.status !== 200) throw new Error(`HTTP ${reply.status}: ${JSON.stringify(reply.body)}`)
  const id = reply.body.id as string
  const key = (await team.manage.get(`${path}/${id}/secret`)).body.key as string
  return { id, key, path: `${path}/${id}` }
}

/**
 * Tell the team something, as an operation would; `types` in one transaction, of one object or each of its own.
 * @returns the user it is about
 */
export async function emitEvents(
  team: TestTeam,
  types: string[] = ['labtest.order.created'],
  { user, objects = 'one' }: { user?: string; objects?: 'one' | 'each' } = {},
): Promise<string> {
  const user_id = user ?? (await team.user())
  await team.db.tx(team.tenant, async (tx) => {
    const object_id = tx.uuid()
    for (const type of types)
      emit(tx, {
        type,
        object_id: objects === 'one' ? object_id : tx.uuid(),
        user_id,
        client_user_id: 'ä reference ',
        data: '{"note":"ünïcode  "}',
      })
  })
  return user_id
}

/** What is to be tried again is due now. */
export const makeDeliveriesDue = (team: TestTeam): Promise<number> =>
  team.db.queries.run(sql`
    update delivery set due_at = created_at where team_id = ${team.team} and due_at is not null`)

const State = T.Object({ state: T.String(), attempts: T.Integer(), n: T.Integer() })

/** How the deliveries of an endpoint stand: `delivered after 1` → how many. */
export async function deliveryStates(team: TestTeam, webhook_id: string): Promise<Record<string, number>> {
  const rows = await team.db.queries.many(
    State,
    sql`
    select state, attempts, count(*) as n from delivery where team_id = ${team.team} and destination_id = ${webhook_id} group by 1, 2`,
  )
  return Object.fromEntries(rows.map(({ state, attempts, n }) => [`${state} after ${attempts}`, n]))
}
