// Values that are computed of a night `s`, a summary of sleep. Source: users-wearables.md 15.4; the score is our own, docs/QUERIES.md.
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { Kind } from './columns.ts'
import { numberAt } from './summary-columns.ts'

/** Stages of sleep as they are stored: deep, light, REM and what a person entered; awake is 4. */
const ASLEEP = [1, 2, 3, 5]
const AWAKE = 4

const offsetSeconds = sql`coalesce(${numberAt('timezone_offset')}, 0)`
const start = sql`(((s.document ->> 'bedtime_start')::timestamptz at time zone 'UTC') + make_interval(secs => ${offsetSeconds}))`

/**
 * Version 1: half for the time asleep up to 8 h, 30 % for the efficiency up to 90 %, 20 % for the share of deep and REM sleep up to 40 %.
 * Null without time asleep or efficiency.
 */
export const scoreFrom = (total: Sql, efficiency: Sql, rem: Sql, deep: Sql): Sql =>
  sql`case when ${total} > 0 and ${efficiency} is not null then round(100 * (
    0.5 * least(1, ${total} / 28800) + 0.3 * least(1, ${efficiency} / 90)
    + 0.2 * least(1, (coalesce(${rem}, 0) + coalesce(${deep}, 0)) / (0.4 * ${total})))) end`
export const sleepScore = scoreFrom(numberAt('total'), numberAt('efficiency'), numberAt('rem'), numberAt('deep'))

/** By the local time of the middle of a session: from 17:00 to 03:30 a lark, until 06:00 the third type, later an owl. */
export const chronotypeOf = (midpoint: Sql): Sql => sql`case
  when (${midpoint})::time >= '17:00' or (${midpoint})::time <= '03:30' then 'lark'
  when (${midpoint})::time <= '06:00' then 'third'
  when ${midpoint} is not null then 'owl' end collate "C"`
export const midpoint = sql`(${start} + make_interval(secs => ${numberAt('duration')} / 2))`
export const chronotype = chronotypeOf(midpoint)

/** When the person woke up for the last time, and how often: by the stages of the session. Null without stages. */
export function awakenings(field: 'awake_at' | 'awakenings', team: string, user_id: string): { value: Sql; kind: Kind } {
  const stages = sql`
    select t.stage, t.until_s, lead(t.stage) over (order by t.from_s, t.until_s, t.stage) as next
    from (
      select (a.value #>> '{}')::int as from_s, (b.value #>> '{}')::int as until_s, (c.value #>> '{}')::int as stage
      from summary k
      cross join lateral rows from (
        jsonb_array_elements(k.document -> 'stage_start_offset_second'),
        jsonb_array_elements(k.document -> 'stage_end_offset_second'),
        jsonb_array_elements(k.document -> 'stage_type')) as z (a, b, c)
      cross join lateral (select z.a as value) a cross join lateral (select z.b as value) b cross join lateral (select z.c as value) c
      where k.team_id = ${team} and k.user_id = ${user_id} and k.kind = 'sleep_cycle' and k.calendar_date = s.calendar_date
        and k.provider = s.provider and k.document ->> 'sleep_id' = s.id::text) t`
  const isAsleep = sql`n.stage = any (${ASLEEP}::int[])`
  if (field === 'awake_at')
    return {
      kind: 'time',
      value: sql`(select ${start} + make_interval(secs => max(n.until_s)) from (${stages}) n where ${isAsleep})`,
    }
  return {
    kind: 'int',
    value: sql`(select case when count(*) > 0 then count(*) filter (where ${isAsleep} and n.next = ${AWAKE}::int) end::float8
      from (${stages}) n)`,
  }
}
