// The deprecated streams of nights: samples that the source of a night recorded while it lasted, and its stages. Source:
// users-wearables.md 9, 11.
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField, notFound } from '../../platform/http/errors.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { Fields, T, type Static } from '../../platform/schema/schema.ts'
import type { RangeQuery } from '../resources/range-query.ts'
import type { TimeseriesName } from '../resources/timeseries.ts'
import { findSleep, listSummaries, type Summary } from '../summaries/summaries.ts'
import type { FoundSample } from '../timeseries/chunks.ts'
import { readHypnogram } from '../timeseries/hypnogram.ts'
import { samplesBetween } from '../timeseries/read.ts'
import { Sample } from '../timeseries/routes.ts'
import { sampleFormatter } from '../timeseries/samples.ts'

const recorded = ['hrv', 'heartrate', 'respiratory_rate'] as const
const samples = T.Array(Sample)
export const SleepStream = Fields(
  { hrv: samples, heartrate: samples, hypnogram: samples, respiratory_rate: samples },
  { title: 'SleepStream' },
)

/** Nights in one response. */
const NIGHTS_MAX = 100
/** Samples of one timeseries in one response. */
const SAMPLES_MAX = 100_000

const span = (sleep: Summary): [from_ms: number, to_ms: number] => [
  Date.parse(sleep.bedtime_start as string),
  Date.parse(sleep.bedtime_stop as string),
]
const ofSource = (sleep: Summary) => {
  const source = sleep.source as { provider: string; type: string; app_id: string | null }
  return (foundSample: FoundSample) =>
    foundSample.source.provider === source.provider &&
    foundSample.source.source_type === source.type &&
    foundSample.source.app_id === source.app_id
}

/** Reads the streams of nights of one user. Errors: 422 more than 100,000 samples of one timeseries. */
async function readStreams(tx: Tx, user_id: string, nights: Summary[]): Promise<Static<typeof SleepStream>[]> {
  const spans = nights.map(span)
  const range = { from_ms: Math.min(...spans.map(([from]) => from)), to_ms: Math.max(...spans.map(([, to]) => to)) }
  const samplesOfNights = (resource: TimeseriesName, samples: FoundSample[]) => {
    const format = sampleFormatter(resource)
    return nights.map((night, i) => {
      const [from_ms, to_ms] = spans[i]!
      const isOfNight = ofSource(night)
      // A stage that begins with the end of a night is none of it.
      const isBefore = ({ sample: { at_ms } }: FoundSample) => at_ms < to_ms || (at_ms === to_ms && resource !== 'hypnogram')
      const own = samples.filter(
        (foundSample) => foundSample.sample.at_ms >= from_ms && isBefore(foundSample) && isOfNight(foundSample),
      )
      return own.map(({ sample, source }) => format(sample, source))
    })
  }
  const lists = new Map<string, object[][]>()
  for (const resource of recorded)
    lists.set(resource, samplesOfNights(resource, await samplesBetween(tx, user_id, resource, range, SAMPLES_MAX)))
  lists.set('hypnogram', samplesOfNights('hypnogram', await readHypnogram(tx, user_id, range)))
  const names = Object.keys(SleepStream.properties)
  return nights.map((_, i) => Object.fromEntries(names.map((name) => [name, lists.get(name)![i]!])) as Static<typeof SleepStream>)
}

/**
 * Shows the stream of a night. Errors: 404 unknown night; 422 more than 100,000 samples of one timeseries.
 * @param only_of a night of another user is unknown
 */
export async function readSleepStream(tx: Tx, sleep_id: string, only_of?: string) {
  const found = await findSleep(tx, sleep_id)
  if (!found || (only_of !== undefined && found.user_id !== only_of)) throw notFound('Sleep not found')
  tx.concerns(found.user_id)
  const [stream] = await readStreams(tx, found.user_id, [found])
  return stream!
}

/** Lists nights with their streams. Errors: those of `listSummaries`; 422 more than 100 nights, or 100,000 samples of one timeseries. */
export async function listSleepStreams(tx: Tx, user_id: string, query: RangeQuery) {
  const nights = await listSummaries(tx, user_id, 'sleep', query)
  if (nights.length > NIGHTS_MAX) throw invalidField(['query', 'start_date'], `the range has more than ${NIGHTS_MAX} nights`)
  const streams = nights.length ? await readStreams(tx, user_id, nights) : []
  const sleep = nights.map((night, i) => ({ ...night, sleep_stream: streams[i] }))
  return new PreserializedJson<never>(JSON.stringify({ sleep }))
}
