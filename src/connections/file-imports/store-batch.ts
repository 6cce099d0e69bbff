// Stores one batch of a file. Like what phones send it goes through `ingestSamples` and `ingestSummaries`.
import type { Tx } from '../../platform/db/transaction.ts'
import type { User } from '../../people/users/schema.ts'
import { ingestSamples, ingestSummaries, type Ingested } from '../../wearables/ingestion/ingest.ts'
import { resourceNameOf } from '../../wearables/resources/timeseries.ts'
import { isStorable, summaryIds } from '../../wearables/summaries/summaries.ts'
import { connectionStatus } from '../connections/connections.ts'
import { newSamples, newSummaries } from './already-there.ts'
import type { Batch } from './batches.ts'
import { countNames, type Result, type Results } from './imports.ts'

const none: Omit<Result, 'provider' | 'oldest_ms' | 'newest_ms'> = {
  accepted: 0,
  created: 0,
  updated: 0,
  dropped: 0,
  already_there: 0,
  paused: 0,
}

/**
 * Stores a batch and returns the results with it. Data of a provider whose connection is paused is left out. Writes what `ingestSamples`
 * and `ingestSummaries` write; emits events about history.
 */
export async function storeBatch(tx: Tx, user: User, batch: Batch, results: Results): Promise<Results> {
  const { provider } = batch
  const size = 'kind' in batch ? batch.summaries.length : batch.samples.length
  const resource = 'kind' in batch ? batch.kind : resourceNameOf(batch.resource)
  const before = results[`${provider} ${resource}`] ?? { ...none, provider, oldest_ms: null, newest_ms: null }
  const now: Result = { ...before }
  const is_paused = (await connectionStatus(tx, user.user_id, provider)) === 'paused'
  if (is_paused) now.paused += size
  else {
    const { ingested, instants, already_there } = await ingest(tx, user, batch)
    for (const name of countNames) now[name] += ingested[name]
    now.already_there += already_there
    for (const ms of instants) {
      if (now.oldest_ms === null || ms < now.oldest_ms) now.oldest_ms = ms
      if (now.newest_ms === null || ms > now.newest_ms) now.newest_ms = ms
    }
  }
  return { ...results, [`${provider} ${resource}`]: now }
}

interface Outcome {
  ingested: Ingested
  instants: number[]
  already_there: number
}

async function ingest(tx: Tx, user: User, batch: Batch): Promise<Outcome> {
  const { provider } = batch
  const owner = { user_id: user.user_id, provider }
  if ('resource' in batch) {
    const { resource } = batch
    const samples = await newSamples(tx, owner, resource, batch.samples)
    const ingested = await ingestSamples(tx, user, resource, { provider, samples, historical: true })
    return { ingested, instants: samples.map(({ at_ms }) => at_ms), already_there: batch.samples.length - samples.length }
  }
  const { kind } = batch
  // One that is too large is left out alone: the rest of the file is good.
  const fitting = batch.summaries.filter(({ record, stages }) => isStorable(record) && (!stages || isStorable(stages)))
  const summaries = await newSummaries(tx, owner, kind, fitting)
  const records = summaries.map(({ record }) => record)
  const ingested = await ingestSummaries(tx, user, kind, { provider, records, historical: true })
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
  const instants = records.flatMap(({ calendar_date }) => (calendar_date === null ? [] : [Date.parse(calendar_date)]))
  const already_there = fitting.length - summaries.length
  return {
    ingested: { ...ingested, dropped: ingested.dropped + batch.summaries.length - fitting.length },
    instants,
    already_there,
  }
}
