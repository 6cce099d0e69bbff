// Stores one batch of a file. Like what phones send it goes through `ingestSamples` and `ingestSummaries`.
import type { Tx } from '../../platform/db/transaction.ts'
import type { User } from '../../people/users/schema.ts'
import { ingestWorkoutStreams } from '../../wearables/ingestion/ingest-streams.ts'
import { ingestSamples, ingestSummaries, type Ingested } from '../../wearables/ingestion/ingest.ts'
import { resourceNameOf } from '../../wearables/resources/timeseries.ts'
import { isStorable, summaryIds } from '../../wearables/summaries/summaries.ts'
import { connectionStatus } from '../connections/connections.ts'
import { newSamples, newSummaries } from './already-there.ts'
import type { Batch } from './batches.ts'
import { countNames, type Result, type Results } from './imports.ts'
import type { ReadSummary } from './reading.ts'

const none: Omit<Result, 'provider' | 'oldest_ms' | 'newest_ms'> = {
  accepted: 0,
  created: 0,
  updated: 0,
  dropped: 0,
  already_there: 0,
  paused: 0,
}

/**
 * Stores a batch and returns the results with it. Data of a provider whose connection is paused is left out. Writes what `ingestSamples`,
 * `ingestSummaries` and `ingestWorkoutStreams` write; emits events about history.
 */
export async function storeBatch(tx: Tx, user: User, batch: Batch, results: Results): Promise<Results> {
  const { provider } = batch
  const size = 'kind' in batch ? batch.summaries.length : batch.samples.length
  const resource = 'kind' in batch ? batch.kind : resourceNameOf(batch.resource)
  const is_paused = (await connectionStatus(tx, user.user_id, provider)) === 'paused'
  if (is_paused) return addOutcome(results, provider, { resource, paused_count: size })
  const outcomes = 'kind' in batch ? await storeSummaries(tx, user, batch) : [await storeSamples(tx, user, batch)]
  return outcomes.reduce((results, outcome) => addOutcome(results, provider, outcome), results)
}

interface Outcome {
  resource: string
  counts?: Ingested
  /** Instants of what was accepted. */
  instants?: number[]
  already_there?: number
  paused_count?: number
}

/** The results with an outcome added to those of its resource. */
function addOutcome(
  results: Results,
  provider: string,
  { resource, counts: ingested, instants = [], already_there = 0, paused_count: paused = 0 }: Outcome,
): Results {
  const key = `${provider} ${resource}`
  const now: Result = { ...(results[key] ?? { ...none, provider, oldest_ms: null, newest_ms: null }) }
  if (ingested) for (const name of countNames) now[name] += ingested[name]
  // What cannot be is counted with what lies outside of the bounds of ingestion.
  now.dropped += ingested?.rejected ?? 0
  now.already_there += already_there
  now.paused += paused
  for (const ms of instants) {
    if (now.oldest_ms === null || ms < now.oldest_ms) now.oldest_ms = ms
    if (now.newest_ms === null || ms > now.newest_ms) now.newest_ms = ms
  }
  return { ...results, [key]: now }
}

type SampleBatch = Extract<Batch, { resource: string }>
type SummaryBatch = Extract<Batch, { kind: string }>

async function storeSamples(tx: Tx, user: User, { provider, resource, samples: all }: SampleBatch): Promise<Outcome> {
  const samples = await newSamples(tx, { user_id: user.user_id, provider }, resource, all)
  const ingested = await ingestSamples(tx, user, resource, { provider, samples, historical: true })
  const instants = samples.map(({ at_ms }) => at_ms)
  return { resource: resourceNameOf(resource), counts: ingested, instants, already_there: all.length - samples.length }
}

async function storeSummaries(tx: Tx, user: User, { provider, kind, summaries: all }: SummaryBatch): Promise<Outcome[]> {
  // One that is too large is left out alone: the rest of the file is good.
  const fitting = all.filter(({ record, stages }) => isStorable(record) && (!stages || isStorable(stages)))
  const summaries = await newSummaries(tx, { user_id: user.user_id, provider }, kind, fitting)
  const records = summaries.map(({ record }) => record)
  const streams = summaries.flatMap(({ stream }) => stream ?? [])
  const ingested = await ingestSummaries(tx, user, kind, { provider, records, streams, historical: true })
  const nights = summaries.filter(({ stages }) => stages)
  if (nights.length) {
    const keys = nights.map(({ record }) => record.key)
    const ids = await summaryIds(tx, user.user_id, 'sleep', provider, keys)
    const cycles = nights.flatMap(({ record, stages }) => {
      const sleep_id = ids.get(record.key)
      return sleep_id ? [{ ...stages!, document: { ...stages!.document, sleep_id } }] : []
    })
    await ingestSummaries(tx, user, 'sleep_cycle', { provider, records: cycles, historical: true })
  }
  return [
    {
      resource: kind,
      counts: { ...ingested, dropped: ingested.dropped + all.length - fitting.length },
      instants: records.flatMap(({ calendar_date }) => (calendar_date === null ? [] : [Date.parse(calendar_date)])),
      already_there: fitting.length - summaries.length,
    },
    ...(await storeStreams(tx, user, provider, summaries)),
    ...(await storeVoltages(tx, user, provider, summaries)),
  ]
}

async function storeStreams(tx: Tx, user: User, provider: string, summaries: ReadSummary[]): Promise<Outcome[]> {
  const streams = summaries.flatMap(({ stream }) => stream ?? [])
  if (!streams.length) return []
  const ingested = await ingestWorkoutStreams(tx, user, { provider, streams, historical: true })
  const instants = streams.flatMap(({ time }) => [time[0]! * 1000, time.at(-1)! * 1000])
  return [{ resource: 'workout_stream', counts: ingested, instants }]
}

async function storeVoltages(tx: Tx, user: User, provider: string, summaries: ReadSummary[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const { voltages: samples } of summaries) {
    if (!samples?.length) continue
    const resource = 'electrocardiogram_voltage'
    const ingested = await ingestSamples(tx, user, resource, { provider, samples, historical: true })
    outcomes.push({ resource, counts: ingested, instants: [samples[0]!.at_ms, samples.at(-1)!.at_ms] })
  }
  return outcomes
}
