// What is recorded of days, against a plain model: random outcomes, in transactions of several, in any order.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { dayOf, dayRecords, recordDays, type DayOutcome, type Days } from './day-records.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

const NUMBERS = ['asked', 'answered', 'received', 'stored', 'failed'] as const
const FIRST = dayOf(Date.parse('2025-12-20'))
const DAYS = 75

const dateOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** The days that have each outcome, from the rows. */
async function readSummaries({ db, tenant }: TestTeam, user_id: string) {
  const rows = await db.read(tenant, (tx) =>
    dayRecords(tx, user_id, { start_date: '1900-01-01', end_date: '2100-01-01', provider: undefined, resource: undefined }),
  )
  const found: Record<string, string[]> = Object.fromEntries(NUMBERS.map((name) => [name, []]))
  for (const row of rows)
    for (const name of NUMBERS)
      for (let day = 0; day < 31; day++)
        if (row[name] & (1 << day))
          found[name]!.push(`${row.resource} ${row.month.slice(0, 8)}${String(day + 1).padStart(2, '0')}`)
  for (const days of Object.values(found)) days.sort()
  return { found, rows }
}

/** Numbers below 1 in an order that is the same in every run. */
function randomly(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe('days are recorded', () => {
  test('as a plain model has them, for random outcomes in transactions of several', async () => {
    const team = await createTestTeam()
    const [user_id, other] = [await team.user(), await team.user()]
    const random = randomly(7)
    const whole = (max: number) => Math.floor(random() * max)
    const model: Record<string, Set<string>> = Object.fromEntries(NUMBERS.map((name) => [name, new Set<string>()]))
    for (let i = 0; i < 40; i++)
      await team.db.tx(team.tenant, async (tx) => {
        for (let j = whole(6); j >= 0; j--) {
          const outcome = (['asked', 'answered', 'received', 'stored', 'failed'] as DayOutcome[])[whole(5)]!
          const resource = (['steps', 'sleep'] as const)[whole(2)]!
          const first = FIRST + whole(DAYS)
          const range = { first, last: first + whole(20) }
          const list = Array.from({ length: range.last - range.first + 1 }, (_, n) => range.first + n)
          const days = random() < 0.5 ? range : list.toSorted(() => random() - 0.5)
          const error = { error: { type: 'provider_unavailable', message: `attempt ${i}` } }
          recordDays(tx, { user_id, provider: 'oura', resource, outcome, days, ...(outcome === 'failed' && error) })
          for (const name of list.map((day) => `${resource} ${dateOf(day)}`)) {
            if (outcome === 'answered' || outcome === 'received' || outcome === 'stored') model.failed!.delete(name)
            model[outcome]!.add(name)
            if (outcome === 'answered' || outcome === 'failed') model.asked!.add(name)
            if (outcome === 'stored') model.received!.add(name)
          }
        }
      })
    const { found } = await readSummaries(team, user_id)
    for (const name of NUMBERS) assert.deepEqual(found[name], [...model[name]!].toSorted(), name)
    assert((found.failed ?? []).length > 10)
    assert.deepEqual((await readSummaries(team, other)).rows, [])
  })

  test('in rows that are not written again when they say it already', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const version = async () =>
      (
        await team.db.pool.query<{ v: string }>('select xmin || $2 || xmax as v from day_record where team_id = $1', [
          team.team,
          ' ',
        ])
      ).rows
    const record = (outcome: DayOutcome, days: Days['days']) =>
      team.db.tx(team.tenant, async (tx) => recordDays(tx, { user_id, provider: 'oura', resource: 'steps', outcome, days }))
    const january = dayOf(Date.parse('2026-01-01'))
    await record('stored', { first: january, last: january + 30 })
    const first = await version()
    assert.equal(first.length, 1)
    await record('stored', [january + 3])
    await record('received', { first: january, last: january + 5 })
    assert.deepEqual(await version(), first)
    await record('answered', [january])
    assert.notDeepEqual(await version(), first)
  })

  test('until tomorrow and from 1900, of a range the last ten years; the last error of a month is kept', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const key = { user_id, provider: 'oura', resource: 'steps' } as const
    const fail = (message: string, days: Days['days']) =>
      team.db.tx(team.tenant, async (tx) =>
        recordDays(tx, { ...key, outcome: 'failed', days, error: { type: 'transport_failure', message } }),
      )
    await fail('x'.repeat(1000), [dayOf(Date.parse('2026-01-05'))])
    await fail('\0second', [dayOf(Date.parse('2026-01-06'))])
    await team.db.tx(team.tenant, async (tx) => recordDays(tx, { ...key, outcome: 'asked', days: { first: -1e9, last: 1e9 } }))
    await team.db.tx(team.tenant, async (tx) =>
      recordDays(tx, { ...key, outcome: 'stored', days: [NaN, Infinity, -1e12, dayOf(Date.UTC(1900, 0))] }),
    )
    const { found, rows } = await readSummaries(team, user_id)
    const tomorrow = dayOf(Date.now()) + 1
    assert.deepEqual([found.asked![0], found.asked!.length], [`steps ${dateOf(tomorrow - 3652)}`, 3653])
    assert.equal(found.asked!.at(-1), `steps ${dateOf(tomorrow)}`)
    assert.deepEqual([found.failed, found.stored], [['steps 2026-01-05', 'steps 2026-01-06'], ['steps 1900-01-01']])
    const { error_type, error_message } = rows.find(({ month }) => month === '2026-01-01')!
    assert.deepEqual([error_type, error_message], ['transport_failure', 'second'])
  })
})
