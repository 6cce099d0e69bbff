// The table `derived_readiness`: one row for a night of a source, with scores against the baseline of the 21 days before it. The formulas
// are our own; docs/QUERIES.md publishes them as version 1. Source: users-wearables.md 15.4.
import { raw, sql, type Sql } from '../../platform/db/sql.ts'
import { chronotypeOf, midpoint, scoreFrom } from './sleep-values.ts'
import { numberAt } from './summary-columns.ts'
import { daysAround, type Owner, type Span } from './timeframe.ts'

/** Days of the baseline, and the fewest of them that have a value. */
export const BASELINE_DAYS = 21
const OBSERVATIONS_MIN = 7
const EIGHT_HOURS_S = 28_800

/** The rows `s` of a span, after `from`. Of several long sleeps of one source that end on one day, the longest counts. */
export function readinessRows({ team, user_id }: Owner, span: Span): Sql {
  const before = sql`(partition by provider, source_type order by calendar_date
    range between interval '21 days' preceding and interval '1 day' preceding)`
  return sql`(
    with night as (
      select distinct on (s.calendar_date, s.provider, s.source_type) s.calendar_date, s.provider, s.source_type, s.app_id, s.device_id,
        ${numberAt('average_hrv')} as hrv, coalesce(${numberAt('hr_resting')}, ${numberAt('hr_lowest')}) as rate,
        ${numberAt('total')} as total, ${numberAt('efficiency')} as efficiency, ${numberAt('rem')} as rem, ${numberAt('deep')} as deep,
        ${midpoint} as midpoint
      from summary s
      where s.team_id = ${team} and s.user_id = ${user_id} and s.kind = 'sleep' and s.document ->> 'type' = 'long_sleep'
        and ${daysAround(span, BASELINE_DAYS)}
      order by s.calendar_date, s.provider, s.source_type, ${numberAt('duration')} desc, s.id
    ), based as (
      select *, case when count(hrv) over before >= ${OBSERVATIONS_MIN} then avg(hrv) over before end as hrv_mean,
        greatest(1, stddev_samp(hrv) over before) as hrv_deviation,
        case when count(rate) over before >= ${OBSERVATIONS_MIN} then avg(rate) over before end as rate_mean,
        greatest(1, stddev_samp(rate) over before) as rate_deviation
      from night window before as ${before}
    ), recovered as (
      -- least and greatest leave out nulls.
      select *, case when hrv + hrv_mean + rate + rate_mean + total is not null then round(100 / (1 + exp(-(0.5
        + 0.8 * least(4, greatest(-4, (hrv - hrv_mean) / hrv_deviation)) + 0.6 * least(4, greatest(-4, (rate_mean - rate) / rate_deviation))
        + 0.3 * least(1, greatest(-8, (total - ${EIGHT_HOURS_S}) / 3600)))))) end as recovery
      from based
    )
    select *, case when recovery is not null then round((21 * (1 - exp(-(1.5 * (100 - recovery) / 100 + 1.5 * greatest(0, ${EIGHT_HOURS_S} - total) / ${EIGHT_HOURS_S}))))::numeric, 1)::float8 end
      as strain
    from recovered) s`
}

const readinessColumns: Record<string, Sql> = {
  date: sql`s.calendar_date`,
  chronotype: chronotypeOf(sql`s.midpoint`),
  sleep_score: scoreFrom(sql`s.total`, sql`s.efficiency`, sql`s.rem`, sql`s.deep`),
  recovery_score: sql`s.recovery`,
  recovery_zone: sql`case when s.recovery <= 33 then 'Red' when s.recovery <= 66 then 'Amber' when s.recovery is not null then 'Green' end
    collate "C"`,
  stress_score: sql`(100 - s.recovery)`,
  strain_score: sql`s.strain`,
  strain_zone: sql`case when s.strain < 7 then 'Low' when s.strain < 14 then 'Moderate' when s.strain < 18 then 'High'
    when s.strain is not null then 'Very High' end collate "C"`,
}

export const derivedReadiness = (name: string): Sql => readinessColumns[name] ?? raw('null::text')
