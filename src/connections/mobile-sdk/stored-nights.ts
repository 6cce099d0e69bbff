// The nights that result from the sessions of a post and stored ones.
import { lockUser } from '../../people/users/connected-sources.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { flatMapInSlices } from '../../platform/runtime/loop-work.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'
import { dataChanged } from '../../wearables/ingestion/ingest.ts'
import { nightsBetween, saveJoinedKeys, type StoredNight } from '../../wearables/summaries/nights.ts'
import { storedZones, deleteSummaries } from '../../wearables/summaries/summaries.ts'
import { toDevice } from './phone-samples.ts'
import { withoutUndefined, mergeNights, type MergedNights, type Night } from './phone-nights.ts'
import { sleepSourceOf, type PhoneContext } from './summaries.ts'
import type { SentSleep, StageName } from './summary-schema.ts'

interface Whose {
  user_id: string
  provider: string
}

const sourceKey = (source_type: string, app_id: string | null): string => JSON.stringify([source_type, app_id])
const deviceKey = (manufacturer: string | null, model: string | null): string | null =>
  manufacturer === null && model === null ? null : JSON.stringify([manufacturer, model])

function arrivingNight(session: SentSleep, { zone }: PhoneContext): Night {
  const source_type = sleepSourceOf(session)
  const device = toDevice(session.metadata, source_type)
  return {
    session,
    zone,
    source: sourceKey(source_type, session.source_bundle ?? null),
    device: device && deviceKey(device.manufacturer, device.model),
    joinedIds: new Set(),
    isStored: false,
    isChanged: true,
  }
}

const names: Record<number, StageName> = {
  [-1]: 'unknown_sleep_samples',
  1: 'deep_sleep_samples',
  2: 'light_sleep_samples',
  3: 'rem_sleep_samples',
  4: 'awake_sleep_samples',
}

/** The stages of a stored night as a phone sends them. */
function stagesOf(stages: StoredNight['stages']): NonNullable<SentSleep['sleep_stages']> {
  const found: Partial<Record<StageName, { value: number; unit: string; start_date: string; end_date: string }[]>> = {}
  const { session_start, stage_start_offset_second: from, stage_end_offset_second: to, stage_type: types } = stages ?? {}
  const at = (offset_s: number) => new Date(Date.parse(session_start as string) + offset_s * 1000).toISOString()
  for (const [i, type] of ((types ?? []) as number[]).entries()) {
    const name = names[type]
    if (!name) continue
    const sample = { value: type, unit: 'stage', start_date: at((from as number[])[i]!), end_date: at((to as number[])[i]!) }
    ;(found[name] ??= []).push(sample)
  }
  return found
}

/** A stored night as a phone would send it. */
function storedNight(row: StoredNight, zone: string | null): Night {
  const { document, stages, key, source_type, app_id } = row
  const number = (name: keyof typeof document) => (typeof document[name] === 'number' ? document[name] : undefined)
  const [start_date, end_date] = [String(document.bedtime_start), String(document.bedtime_stop)]
  const temperature = number('skin_temperature')
  return {
    session: {
      id: key,
      start_date,
      end_date,
      source_type,
      ...(app_id !== null && { source_bundle: app_id }),
      ...withoutUndefined({
        heart_rate_minimum: number('hr_lowest'),
        heart_rate_mean: number('hr_average'),
        heart_rate_maximum: row.heart_rate_maximum ?? undefined,
        hrv_mean_sdnn: number('average_hrv'),
        respiratory_rate_mean: number('respiratory_rate'),
        score: number('score'),
      }),
      wrist_temperature: temperature === undefined ? [] : [{ value: temperature, unit: '°C', start_date, end_date }],
      sleep_stages: stagesOf(stages),
    },
    zone,
    source: sourceKey(source_type, app_id),
    device: deviceKey(row.manufacturer, row.model),
    joinedIds: new Set(row.joined_keys),
    isStored: true,
    isChanged: false,
  }
}

/**
 * The nights that result from sessions of a phone and stored ones. Locks the user until the transaction ends, so that two posts do
 * not each store a part.
 */
export async function nightsOfSessions(
  tx: Tx,
  source: Whose,
  sessions: SentSleep[],
  contextFor: (session: SentSleep) => PhoneContext,
): Promise<MergedNights> {
  if (!sessions.length || !(await lockUser(tx, source.user_id)))
    return { changedNights: sessions.map((session) => arrivingNight(session, contextFor(session))), removedNights: [] }
  const instants = sessions.flatMap(({ start_date, end_date }) => [Date.parse(start_date), Date.parse(end_date)])
  const day = (at_ms: number) => new Date(at_ms).toISOString().slice(0, 10)
  const [from_ms, to_ms] = [instants.reduce((a, b) => Math.min(a, b)), instants.reduce((a, b) => Math.max(a, b))]
  const rows = await nightsBetween(tx, source, [day(from_ms - 2 * DAY_MS), day(to_ms + 2 * DAY_MS)])
  const zones = await storedZones(
    tx,
    { ...source, kind: 'sleep' },
    rows.map(({ key }) => key),
  )
  return mergeNights(
    await flatMapInSlices(rows, (row) => storedNight(row, zones.get(row.key) ?? null)),
    await flatMapInSlices(sessions, (session) => arrivingNight(session, contextFor(session))),
  )
}

/**
 * Stores of which sessions nights were joined, and deletes those that became part of others. One whose place a night has that was not
 * stored, because it lies outside of the bounds, stays. Writes summary. No event tells of a deletion: the night has another id.
 * @param isStored whether a night has been written, by its id
 */
export async function settleNights(
  tx: Tx,
  source: Whose,
  { changedNights: changed, removedNights: gone }: MergedNights,
  isStored: (id: string) => boolean,
): Promise<void> {
  const written = changed.filter(({ session: sent }) => isStored(sent.id))
  if (written.length)
    await saveJoinedKeys(
      tx,
      source,
      written.map(({ session: sent, joinedIds: joined }) => ({ key: sent.id, joined_keys: [...joined] })),
    )
  const replaced = gone.filter(({ session: sent }) =>
    written.some(({ session: { start_date, end_date } }) => overlaps(sent, { start_date, end_date })),
  )
  if (!replaced.length) return
  const keys = replaced.map(({ session: sent }) => sent.id)
  await deleteSummaries(tx, source.user_id, ['sleep', 'sleep_cycle'], source.provider, keys)
  const instants = replaced.flatMap(({ session: sent }) => [Date.parse(sent.start_date), Date.parse(sent.end_date)])
  const range = { from_ms: Math.min(...instants) - DAY_MS, to_ms: Math.max(...instants) + DAY_MS }
  for (const kind of ['sleep', 'sleep_cycle'] as const) await tx.notify(dataChanged, source.user_id, kind, range)
}

type Session = Pick<SentSleep, 'start_date' | 'end_date'>
const overlaps = (a: Session, b: Session): boolean =>
  Date.parse(a.start_date) <= Date.parse(b.end_date) && Date.parse(b.start_date) <= Date.parse(a.end_date)
