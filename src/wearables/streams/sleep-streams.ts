// The deprecated streams of nights: samples that the source of a night recorded while it lasted, and its stages. Source:
// users-wearables.md 9, 11.
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField, notFound } from '../../platform/http/errors.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { Fields, T } from '../../platform/schema/schema.ts'
import type { RangeQuery } from '../resources/range-query.ts'
import { findSleep, listSummaries, type Summary } from '../summaries/summaries.ts'
import type { FoundSample } from '../timeseries/chunks.ts'
import { hypnogramOf } from '../timeseries/hypnogram.ts'
import { samplesBetween } from '../timeseries/read.ts'
import { Sample } from '../timeseries/routes.ts'
import { sampleWriter } from '../timeseries/samples.ts'

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
  return (found: FoundSample) =>
    found.source.provider === source.provider && found.source.source_type === source.type && found.source.app_id === source.app_id
}

/** The streams of nights of one user, as JSON. Errors: 422 more than 100,000 samples of one timeseries. */
async function streamsOf(tx: Tx, user_id: string, nights: Summary[]): Promise<string[]> {
  const spans = nights.map(span)
  const range = { from_ms: Math.min(...spans.map(([from]) => from)), to_ms: Math.max(...spans.map(([, to]) => to)) }
  const lists = new Map<string, string[]>()
  for (const resource of recorded) {
    const found = await samplesBetween(tx, user_id, resource, range, SAMPLES_MAX)
    const write = sampleWriter(resource)
    lists.set(
      resource,
      nights.map((night, i) => {
        const [from_ms, to_ms] = spans[i]!
        const isOfNight = ofSource(night)
        const own = found.filter((one) => one.sample.at_ms >= from_ms && one.sample.at_ms <= to_ms && isOfNight(one))
        return own.map(({ sample, source }) => write(sample, source)).join()
      }),
    )
  }
  const stages = await hypnogramOf(tx, user_id, range)
  const write = sampleWriter('hypnogram')
  return nights.map((night, i) => {
    const [from_ms, to_ms] = spans[i]!
    const isOfNight = ofSource(night)
    const own = stages.filter((one) => one.sample.at_ms >= from_ms && one.sample.at_ms < to_ms && isOfNight(one))
    const hypnogram = own.map(({ sample, source }) => write(sample, source)).join()
    const list = (name: string) => `"${name}":[${lists.get(name)![i]}]`
    return `{${list('hrv')},${list('heartrate')},"hypnogram":[${hypnogram}],${list('respiratory_rate')}}`
  })
}

/**
 * Shows the stream of a night. Errors: 404 unknown night; 422 more than 100,000 samples of one timeseries.
 * @param only_of a night of another user is unknown
 */
export async function readSleepStream(tx: Tx, sleep_id: string, only_of?: string) {
  const found = await findSleep(tx, sleep_id)
  if (!found || (only_of !== undefined && found.user_id !== only_of)) throw notFound('Sleep not found')
  tx.concerns(found.user_id)
  const [stream] = await streamsOf(tx, found.user_id, [found])
  return new PreserializedJson<never>(stream!)
}

/** Lists nights with their streams. Errors: those of `listSummaries`; 422 more than 100 nights, or 100,000 samples of one timeseries. */
export async function listSleepStreams(tx: Tx, user_id: string, query: RangeQuery) {
  const nights = await listSummaries(tx, user_id, 'sleep', query)
  if (nights.length > NIGHTS_MAX) throw invalidField(['query', 'start_date'], `the range has more than ${NIGHTS_MAX} nights`)
  const streams = nights.length ? await streamsOf(tx, user_id, nights) : []
  const shown = nights.map(
    ({ sleep_stream: _none, ...night }, i) => `${JSON.stringify(night).slice(0, -1)},"sleep_stream":${streams[i]}}`,
  )
  return new PreserializedJson<never>(`{"sleep":[${shown.join()}]}`)
}
