// How long the events of one team take to their receiver while another team has fifty endpoints that answer late or never.
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 } from './baseline-write.ts'
import { timeEvents } from './delivery.ts'
import { percentiles, report } from './measure.ts'
import { createOtherTeam } from './other-team.ts'
import { start, type Bench } from './program.ts'

const ENDPOINTS = 50
/** The events of the slow team: so many when the measurement begins, and so many a second after that. */
const EVENTS_AT_ONCE = 100
const EVENTS_PER_S = 10
/** The orders of the other team, of two events each. */
const ORDERS_PER_S = 5
const MEASURED_S = 40

/** Three measurements: a quiet server, fifty endpoints that answer 200 after 14 s, and fifty that never answer. */
export async function measureSlowReceivers(bench: Bench): Promise<void> {
  const { url: receiver, child } = await start('bench/receiver.ts', [])
  const other = await createOtherTeam(bench, `${receiver}/latency`)
  for (let i = 0; i < 20; i++) await other.order()
  await sleep(1000)
  for (const [name, path] of [
    ['quiet', undefined],
    [`beside ${ENDPOINTS} that answer after 14 s`, 'late'],
    [`beside ${ENDPOINTS} that never answer`, 'never'],
  ] as const) {
    const end = path === undefined ? undefined : await occupy(bench, path)
    const took = await timeEvents({ db: bench.db, ...other, receiver }, { orders_per_s: ORDERS_PER_S, seconds: MEASURED_S })
    const sent = await end?.()
    const [p50_ms, p99_ms] = percentiles(took)
    const ofSlow = sent === undefined ? '' : `${sent} to slow`
    const goal = `${p99_ms.toFixed(0)} ms p99, under 1000 ms; longest ${took.at(-1)!.toFixed(0)} ms`
    report(`another team ${name}`, `${p50_ms.toFixed(0)} ms median`, ofSlow, '', goal)
  }
  child.kill()
}

/** Events for fifty endpoints of the demo team, until the returned function is called, which returns how many attempts arrived. */
async function occupy(bench: Bench, path: 'late' | 'never'): Promise<() => Promise<number>> {
  const { db, team, user_id, order_id, createEndpoint, deleteEndpoint } = bench
  const receiver = await start('bench/receiver.ts', [])
  const ids: string[] = []
  for (let i = 0; i < ENDPOINTS; i++) ids.push(await createEndpoint(`${receiver.url}/${path}/${i}`))
  const emit = (count: number) =>
    db.query(
      `with emitted as (
         insert into event (id, team_id, type, object_id, user_id, created_at, body)
         select given.id, $1, 'labtest.order.updated', gen_random_uuid(), $2, now(),
           (select body from event where object_id = $3 order by id desc limit 1)
         from unnest($4::uuid[]) as given (id) returning id)
       insert into event_outbox (team_id, event_ids) select $1, array_agg(id) from emitted`,
      [team, user_id, order_id, Array.from({ length: count }, v7)],
    )
  await emit(EVENTS_AT_ONCE)
  let isEnded = false
  const emitting = (async () => {
    while (!isEnded) {
      await sleep(1000 / EVENTS_PER_S)
      await emit(1)
    }
  })()
  return async () => {
    isEnded = true
    await emitting
    const { count } = (await (await fetch(receiver.url)).json()) as { count: number }
    for (const id of ids) await deleteEndpoint(id)
    receiver.child.kill()
    return count
  }
}
