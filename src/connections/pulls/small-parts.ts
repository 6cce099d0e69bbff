// What a vendor has answered in parts, each of which is stored in one transaction without keeping others waiting.
import type { Pulled } from '../connectors/connector.ts'

const SAMPLES_MAX = 10_000
const RECORDS_MAX = 200
/** Of the records of one part, as JSON. */
const RECORDS_LENGTH_MAX = 500_000

/** The parts of a part. */
export function* smallParts(part: Pulled): Generator<Pulled> {
  if ('resource' in part) yield* slices(part.samples, SAMPLES_MAX, (samples) => ({ resource: part.resource, samples }))
  else if ('streams' in part) yield* slices(part.streams, 1, (streams) => ({ streams }))
  else if ('deleted' in part) yield* slices(part.deleted, RECORDS_MAX, (deleted) => ({ kind: part.kind, deleted }))
  else yield* recordParts(part)
}

function* slices<V>(all: readonly V[], max: number, partOf: (some: V[]) => Pulled): Generator<Pulled> {
  for (let i = 0; i < all.length; i += max) yield partOf(all.slice(i, i + max))
}

function* recordParts({ kind, records }: Extract<Pulled, { records: unknown }>): Generator<Pulled> {
  let [some, length]: [typeof records, number] = [[], 0]
  for (const record of records) {
    const more = JSON.stringify(record).length
    if (some.length && (some.length === RECORDS_MAX || length + more > RECORDS_LENGTH_MAX)) {
      yield { kind, records: some }
      ;[some, length] = [[], 0]
    }
    some.push(record)
    length += more
  }
  if (some.length) yield { kind, records: some }
}
