// Groups what a reader finds into batches, each of which is stored in one transaction. The same file always gives the same batches, so that
// an import that was interrupted can omit stored batches.
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import type { TimeseriesName } from '../../wearables/resources/timeseries.ts'
import type { SummaryKind } from '../../wearables/summaries/schema.ts'
import { countSkipped, type ReadSummary, type Sink, type Skipped, type SkipReason } from './reading.ts'

const SAMPLES_PER_BATCH = 5000
const SUMMARIES_PER_BATCH = 200
/** Seconds of streams and voltages that come with the summaries of one batch. */
const DETAILS_PER_BATCH = 100_000
/** Samples in memory, of all timeseries together. */
const SAMPLES_HELD_MAX = 60_000
/** Sources in one batch: `ingestSamples` rejects more. */
const SOURCES_PER_BATCH = 150
/** Sources of one file, which are rows of a table. */
const SOURCES_MAX = 1000

export type Batch =
  | { provider: string; resource: TimeseriesName; samples: IncomingSample[] }
  | { provider: string; kind: SummaryKind; summaries: ReadSummary[] }

interface Group {
  samples: IncomingSample[]
  sources: Set<string>
}

/** Collects what readers find. `send` gets the batches one after another, each when the one before has been taken. */
export class Batches implements Sink {
  /** The provider of what is found from now on. */
  provider: string
  readonly skips: Skipped = {}
  readonly #send: (batch: Batch) => Promise<void>
  readonly #samples = new Map<TimeseriesName, Group>()
  readonly #summaries = new Map<SummaryKind, { list: ReadSummary[]; details: number }>()
  readonly #sources = new Set<string>()
  #sampleCount = 0
  #ready: Batch[] = []

  constructor(provider: string, send: (batch: Batch) => Promise<void>) {
    this.provider = provider
    this.#send = send
  }

  sample(resource: TimeseriesName, sample: IncomingSample): void {
    let group = this.#samples.get(resource)
    if (!group) this.#samples.set(resource, (group = { samples: [], sources: new Set() }))
    const { source_type, app_id, device } = sample
    const source = `${source_type} ${app_id ?? ''} ${device ? `${device.manufacturer} ${device.model}` : ''}`
    if (!group.sources.has(source)) {
      const whole = `${this.provider} ${resource} ${source}`
      if (!this.#sources.has(whole)) {
        if (this.#sources.size === SOURCES_MAX) return this.skip('too_many', 'sources')
        this.#sources.add(whole)
      }
      if (group.sources.size === SOURCES_PER_BATCH) {
        this.#release(resource, group)
        return this.sample(resource, sample)
      }
      group.sources.add(source)
    }
    group.samples.push(sample)
    if (group.samples.length === SAMPLES_PER_BATCH) this.#release(resource, group)
    else if (++this.#sampleCount > SAMPLES_HELD_MAX) {
      const [largest] = [...this.#samples].sort(([, a], [, b]) => b.samples.length - a.samples.length)
      this.#release(...largest!)
    }
  }

  summary<K extends SummaryKind>(summary: ReadSummary<K>): void {
    const group = this.#summaries.get(summary.kind) ?? { list: [], details: 0 }
    this.#summaries.set(summary.kind, group)
    group.list.push(summary as unknown as ReadSummary)
    group.details += (summary.stream?.time.length ?? 0) + (summary.voltages?.length ?? 0)
    if (group.list.length === SUMMARIES_PER_BATCH || group.details >= DETAILS_PER_BATCH)
      this.#releaseSummaries(summary.kind, group.list)
  }

  skip(reason: SkipReason, kind: string, count = 1): void {
    countSkipped(this.skips, reason, kind, count)
  }

  #release(resource: TimeseriesName, { samples }: Group): void {
    this.#samples.delete(resource)
    this.#sampleCount = [...this.#samples.values()].reduce((sum, group) => sum + group.samples.length, 0)
    this.#ready.push({ provider: this.provider, resource, samples })
  }

  #releaseSummaries(kind: SummaryKind, summaries: ReadSummary[]): void {
    this.#summaries.delete(kind)
    this.#ready.push({ provider: this.provider, kind, summaries })
  }

  async drain(): Promise<void> {
    if (this.#ready.length === 0) return
    const ready = this.#ready
    this.#ready = []
    for (const batch of ready) await this.#send(batch)
  }

  /** Sends what is left: at the end, and before another provider. */
  async flush(): Promise<void> {
    for (const [resource, group] of this.#samples) this.#release(resource, group)
    for (const [kind, { list }] of this.#summaries) this.#releaseSummaries(kind, list)
    await this.drain()
  }
}
