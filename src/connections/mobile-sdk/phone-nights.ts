// Sessions of sleep as nights: a phone sends parts of a night under ids of their own, and later the whole night under another one.
// Source: users-wearables.md 7; events.md 5; the public clients, which join what their watches record within 30 minutes to 2 hours.
import { invalidField } from '../../platform/http/errors.ts'
import { yieldIfLong } from '../../platform/runtime/loop-work.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'
import { zoneOffset } from '../../wearables/resources/zones.ts'
import type { Quantity } from './schema.ts'
import type { SentSleep, StageName } from './summary-schema.ts'

/** Maximum stages of all parts of a night: twice as many as one session may have, which has about 30. */
const STAGES_MAX = 6000
/** Parts of a night have at most this between them. */
const GAP_MS_MAX = 2 * 3_600_000
/** A shorter session within the day is a nap, which is not part of a night. */
const NAP_MS_MAX = 3 * 3_600_000
const DAY_BEGINS = '09:00'
const DAY_ENDS = '21:00'

export interface Night {
  session: SentSleep
  /** Time zone of the end; null: unknown. */
  zone: string | null
  /** What tells sources apart: the app, the kind of source, and the device, null if it is not known. */
  source: string
  device: string | null
  /** The ids of the other sessions that it was joined from. */
  joinedIds: ReadonlySet<string>
  isStored: boolean
  /** It has to be written. */
  isChanged: boolean
}

type Span = [from: number, to: number]
const spans = new WeakMap<object, Span>()

/** When a session or a stage began and ended. Each is compared with many others, and reading an instant takes longer than that. */
function spanOf(stage: Pick<Quantity, 'start_date' | 'end_date'>): Span {
  let known = spans.get(stage)
  if (!known) spans.set(stage, (known = [Date.parse(stage.start_date), Date.parse(stage.end_date)]))
  return known
}
const span = ({ session: sent }: Night): Span => spanOf(sent)

function covers(a: Night, b: Night): boolean {
  const [[from, to], [other_from, other_to]] = [span(a), span(b)]
  return from <= other_from && to >= other_to
}

const localTime = (zone: string, at_ms: number): string =>
  new Date(at_ms + zoneOffset(zone, at_ms) * 1000).toISOString().slice(11, 16)

/** A short session of the day; not if its zone is unknown. */
function isNap(night: Night): boolean {
  const [from, to] = span(night)
  if (night.zone === null || to - from >= NAP_MS_MAX) return false
  const [begins, ends] = [localTime(night.zone, from), localTime(night.zone, to)]
  return begins >= DAY_BEGINS && ends <= DAY_ENDS && begins <= ends
}

/** Whether two sessions are of one night: of one source, they overlap, or are parts with a short gap. */
function areOneNight(a: Night, b: Night): boolean {
  if (a.source !== b.source || (a.device !== null && b.device !== null && a.device !== b.device)) return false
  const [[from, to], [other_from, other_to]] = [span(a), span(b)]
  if (Math.max(to, other_to) - Math.min(from, other_from) > DAY_MS) return false
  const gap_ms = Math.max(from, other_from) - Math.min(to, other_to)
  return gap_ms < 0 || (gap_ms <= GAP_MS_MAX && !isNap(a) && !isNap(b))
}

type Stages = NonNullable<SentSleep['sleep_stages']>

/** The parts of a stage outside of a session. */
function partsOutside(stage: Quantity, [from, to]: [number, number]): Quantity[] {
  const [start, end] = spanOf(stage)
  if (end <= from || start >= to) return [stage]
  const before = start < from ? [{ ...stage, end_date: end <= from ? stage.end_date : new Date(from).toISOString() }] : []
  const after = end > to ? [{ ...stage, start_date: start >= to ? stage.start_date : new Date(to).toISOString() }] : []
  return [...before, ...after]
}

function stagesOfBoth(night: Night, part: Night): Stages {
  const [all, own] = [night.session.sleep_stages ?? {}, part.session.sleep_stages ?? {}] as [Stages, Stages]
  const names = [...new Set([...Object.keys(all), ...Object.keys(own)])] as StageName[]
  const hasStages = names.some((name) => own[name]?.length)
  return Object.fromEntries(
    names.map((name) => {
      const stayed = hasStages ? (all[name] ?? []).flatMap((stage) => partsOutside(stage, span(part))) : (all[name] ?? [])
      return [name, [...stayed, ...(own[name] ?? [])]]
    }),
  )
}

/** Without what is not known. */
export const withoutUndefined = (values: Partial<Record<keyof SentSleep, number | undefined>>): Partial<SentSleep> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

/** Mean of two parts, weighted by their lengths; the value of one part if the other has none. */
function mean(a: number | undefined, b: number | undefined, [a_ms, b_ms]: [number, number]): number | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a_ms + b_ms === 0 ? b : (a * a_ms + b * b_ms) / (a_ms + b_ms)
}
const extreme = (choose: (...numbers: number[]) => number, a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? (a ?? b) : choose(a, b)

const temperatureOf = ({ wrist_temperature: list = [] }: SentSleep): number | undefined =>
  list.length ? list.reduce((sum, { value }) => sum + value, 0) / list.length : undefined

/**
 * A night with another part of it, whose stages count where it lies. The score of a part is none of the night. A part that the night has
 * already adds nothing to its means, whatever they are made of.
 */
function withPart(night: Night, part: Night): Night {
  const [[from, to], [part_from, part_to]] = [span(night), span(part)]
  const isThere = night.joinedIds.has(part.session.id) || night.session.id === part.session.id
  const lengths: [number, number] = [to - from, isThere ? 0 : part_to - part_from]
  const [a, b] = [night.session, part.session]
  const temperature = mean(temperatureOf(a), temperatureOf(b), lengths)
  const sample = [...(b.wrist_temperature ?? []), ...(a.wrist_temperature ?? [])][0]
  const { score: _score, ...rest } = { ...a, ...b }
  const sent: SentSleep = {
    ...rest,
    id: a.id,
    start_date: part_from < from ? b.start_date : a.start_date,
    end_date: part_to > to ? b.end_date : a.end_date,
    ...withoutUndefined({
      heart_rate_minimum: extreme(Math.min, a.heart_rate_minimum, b.heart_rate_minimum),
      heart_rate_maximum: extreme(Math.max, a.heart_rate_maximum, b.heart_rate_maximum),
      heart_rate_mean: mean(a.heart_rate_mean, b.heart_rate_mean, lengths),
      hrv_mean_sdnn: mean(a.hrv_mean_sdnn, b.hrv_mean_sdnn, lengths),
      respiratory_rate_mean: mean(a.respiratory_rate_mean, b.respiratory_rate_mean, lengths),
    }),
    wrist_temperature: temperature === undefined || !sample ? [] : [{ ...sample, value: temperature }],
    sleep_stages: stagesOfBoth(night, part),
  }
  const joined = new Set([...night.joinedIds, ...part.joinedIds, part.session.id].filter((id) => id !== a.id))
  return {
    ...night,
    session: sent,
    joinedIds: joined,
    zone: part_to > to ? part.zone : night.zone,
    device: night.device ?? part.device,
    isChanged: true,
  }
}

export interface MergedNights {
  /** Those to write. */
  changedNights: Night[]
  /** Stored ones that are part of others now. */
  removedNights: Night[]
}

/**
 * Joins arriving and stored sessions to nights. A session that covers others takes their place under its own id; a piece of
 * a longer one that came whole changes nothing; parts that overlap, or have a short gap, become one night, which keeps the id of the part that came first.
 * The order in which the parts of a night come makes no difference but for that id. In slices. Errors: 422 a night of more than 6,000 stages.
 */
export async function mergeNights(storedNights: readonly Night[], newNights: readonly Night[]): Promise<MergedNights> {
  let nights = [...storedNights]
  const gone = new Map<string, Night>()
  const remove = (night: Night): void => {
    nights = nights.filter((candidate) => candidate !== night)
    if (night.isStored) gone.set(night.session.id, night)
  }
  for (const session of newNights) {
    const turn = yieldIfLong()
    if (turn) await turn
    const id = session.session.id
    const own = nights.find((candidate) => candidate.session.id === id) ?? nights.find((candidate) => candidate.joinedIds.has(id))
    let night = session
    if (own && own.session.id === id && (own.joinedIds.size === 0 || covers(session, own)))
      night = { ...session, isStored: own.isStored }
    else if (own && !covers(session, own)) night = withPart(own, session)
    assertFewStages(night)
    if (own && own.session.id === night.session.id) nights = nights.filter((candidate) => candidate !== own)
    for (let other = findPart(nights, night); other; other = findPart(nights, night)) {
      if (covers(night, other)) {
        remove(other)
        continue
      }
      nights = nights.filter((candidate) => candidate !== other)
      if (night.isStored) gone.set(night.session.id, night)
      // A piece of a longer night says nothing new, unless that was joined of parts, of which it may be one.
      night = covers(other, night) && other.joinedIds.size === 0 ? other : withPart(other, night)
      assertFewStages(night)
    }
    nights.push(night)
    gone.delete(night.session.id)
  }
  return { changedNights: nights.filter(({ isChanged }) => isChanged), removedNights: [...gone.values()] }
}

function assertFewStages({ session: { sleep_stages = {} } }: Night): void {
  const stages = Object.values(sleep_stages).reduce((sum, list) => sum + list.length, 0)
  if (stages > STAGES_MAX) throw invalidField(['body', 'data'], `has a night of more than ${STAGES_MAX} stages`)
}

const findPart = (nights: readonly Night[], night: Night): Night | undefined =>
  nights.find((candidate) => areOneNight(candidate, night))
