// What tests send to brokers with: pipelines that run when a test says so, and events of any size.
import { emit, eventBody } from '../../src/platform/queue/outbox.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { sql } from '../../src/platform/db/sql.ts'
import type { DeliveryOptions } from '../../src/events/delivery/delivery-worker.ts'
import type { TestTeam } from './server.ts'
import { delivering } from './webhook-receiver.ts'

/** A delivery worker of the test's own process, for endpoints and brokers. */
export const createTestPipelines = (changes: Partial<DeliveryOptions> = {}) => delivering({ attempt_ms_max: 15_000, ...changes })

export const path = (environment = 'sandbox', region = 'us'): string => `/team_etl_pipelines/${environment}/${region}`

/** Give a team a pipeline that writes to what is named in `destinations`, and also those in `names`. */
export async function pipe(
  team: TestTeam,
  destinations: Record<string, unknown>,
  { names = [], ...settings }: { names?: string[]; [setting: string]: unknown } = {},
): Promise<void> {
  const enabled = [...Object.keys(destinations), ...names]
  const preferences = { preferred: enabled[0], enabled }
  const [environment, region] = team.cell.split('-')
  const body = { team_ids: [team.team], preferences, ...destinations, ...settings }
  const reply = await team.manage.post(path(environment, region), body)
  if (reply.status !== 200) throw new Error(`HTTP ${reply.status}: ${JSON.stringify(reply.body)}`)
}

interface EventInput {
  type?: string
  user_id?: string
  /** Of the whole event, at least what an empty one has. */
  bytes?: number
  historical?: boolean
}

const Body = T.Object({ id: T.String(), body: T.String() })

/** Tell a team something. @returns the event as it is stored */
export async function emitEvent(
  team: TestTeam,
  { type = 'labtest.order.created', user_id, bytes, historical = false }: EventInput = {},
) {
  const about = user_id ?? (await team.user())
  const append = (filling: string) =>
    team.db.tx(team.tenant, async (tx) => {
      const object_id = tx.uuid()
      const data = JSON.stringify({ note: `ü${filling}` })
      emit(tx, { type, object_id, user_id: about, client_user_id: 'ä reference', data, historical })
      return object_id
    })
  const empty = JSON.stringify({
    event_type: type,
    data: { note: 'ü' },
    team_id: team.team,
    user_id: about,
    client_user_id: 'ä reference',
  })
  // Bytes that do not compress to nothing, and are the same in every run.
  const filling = bytes === undefined ? '' : incompressibleText(bytes - Buffer.byteLength(empty))
  const object_id = await append(filling)
  const event = await team.db.queries.one(
    Body,
    sql`select e.id, ${eventBody(team.team)} as body from event e where e.team_id = ${team.team} and e.object_id = ${object_id}`,
  )
  return { ...event, key: `msg_${event.id.replaceAll('-', '')}`, user_id: about, type }
}

function incompressibleText(length: number): string {
  let state = 1
  let text = ''
  while (text.length < length) {
    state = (state * 48_271) % 2_147_483_647
    text += state.toString(36)
  }
  return text.slice(0, length)
}

const Waiting = T.Object({ destination: T.String(), attempts: T.Integer() })

/** What waits for brokers: `rabbitmq after 1`, oldest first. */
export const countQueued = async (team: TestTeam): Promise<string[]> =>
  (
    await team.db.queries.many(
      Waiting,
      sql`
      select l.kind as destination, d.attempts from destination l join delivery d on d.team_id = l.team_id and d.destination_id = l.id join event e on e.id = d.message_id
      where l.team_id = ${team.team} and l.kind <> 'webhook' and d.due_at is not null order by d.queue_position`,
    )
  ).map(({ destination, attempts }) => `${destination} after ${attempts}`)

/** What is to be tried again is due now. */
export async function makePipelinesDue(team: TestTeam): Promise<void> {
  await team.db.queries.run(sql`update delivery set due_at = created_at where team_id = ${team.team} and due_at is not null`)
  await team.db.queries.run(sql`update destination set paused_until = null where team_id = ${team.team}`)
}
