// What a file has and a phone has sent already. A file names its sources otherwise than a phone does, so that records are the same if their
// kind, the kind of their source and their times agree. What the phone has sent stays.
import type { Tx } from '../../platform/db/transaction.ts'
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import type { TimeseriesName } from '../../wearables/resources/timeseries.ts'
import type { SummaryKind } from '../../wearables/summaries/schema.ts'
import { recordedSummaries, type RecordedSummary } from '../../wearables/summaries/recorded.ts'
import { recordedSamples } from '../../wearables/timeseries/recorded.ts'
import { EXPORT_APP } from './adapters/apple-export.ts'
import type { ReadSummary } from './reading.ts'

interface Owner {
  user_id: string
  provider: string
}

/** Phones name apps by bundle ids, such as `com.apple.health.…`; exports by what people call them. */
const isOfPhone = (app_id: string | null): boolean => app_id === null || /^[\w-]+(\.[\w-]+)+$/.test(app_id)

const timesOf = ({ at_ms, length_ms }: { at_ms: number; length_ms: number | null }): string => `${at_ms} ${length_ms}`

/** The samples that no phone has sent. */
export async function newSamples(
  tx: Tx,
  { user_id, provider }: Owner,
  resource: TimeseriesName,
  samples: IncomingSample[],
): Promise<IncomingSample[]> {
  const own = new Set(samples.map(({ app_id }) => app_id))
  const isChosen = (app_id: string | null) => isOfPhone(app_id) && !own.has(app_id)
  const instants = samples.map(({ at_ms }) => at_ms)
  const recorded = await recordedSamples(tx, { user_id, resource, provider }, isChosen, instants)
  if (!recorded.length) return samples
  const known = new Map<string, Set<string>>()
  for (const one of recorded) {
    const types = known.get(timesOf(one)) ?? new Set()
    known.set(timesOf(one), types.add(one.source_type))
  }
  return samples.filter((sample) => {
    const types = known.get(timesOf(sample))
    // A phone that does not know the kind of a source says `unknown`.
    return !types || !(types.has(sample.source_type) || types.has('unknown'))
  })
}

const OF_FILE = /^(export|file):/
const instantOf = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : NaN)

const spanOf = (kind: SummaryKind, document: object): [from: number, to: number] => {
  const { time_start, time_end, bedtime_start, bedtime_stop } = document as Record<string, unknown>
  return kind === 'sleep' ? [instantOf(bedtime_start), instantOf(bedtime_stop)] : [instantOf(time_start), instantOf(time_end)]
}

/** Whether a phone has recorded what a summary of a file says. */
function isSame(kind: SummaryKind, { record }: ReadSummary, known: RecordedSummary): boolean {
  switch (kind) {
    case 'profile':
      return known.app_id !== EXPORT_APP
    case 'activity':
      return known.app_id !== EXPORT_APP && known.calendar_date === record.calendar_date
    case 'body':
      return isOfPhone(known.app_id) && known.app_id !== record.app_id && known.key.split(' ')[0] === record.key.split(' ')[0]
    default: {
      if (OF_FILE.test(known.key)) return false
      const [from, to] = spanOf(kind, record.document)
      const [known_from, known_to] = spanOf(kind, known.document)
      // Nights are cut differently; a workout has two ends.
      return kind === 'sleep' ? from < known_to && known_from < to : from === known_from && to === known_to
    }
  }
}

const DAY_MS = 86_400_000
const shifted = (day: string, days: number): string => new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

/** The summaries that no phone has sent. */
export async function newSummaries(
  tx: Tx,
  { user_id, provider }: Owner,
  kind: SummaryKind,
  summaries: ReadSummary[],
): Promise<ReadSummary[]> {
  const days = summaries.flatMap(({ record }) => record.calendar_date ?? []).sort()
  // A night may be filed under the day before or after.
  const range: [string, string] = days.length ? [shifted(days[0]!, -1), shifted(days.at(-1)!, 1)] : ['1900-01-01', '1900-01-01']
  const known = await recordedSummaries(tx, { user_id, kind, provider }, range)
  if (!known.length) return summaries
  return summaries.filter((summary) => !known.some((one) => isSame(kind, summary, one)))
}
