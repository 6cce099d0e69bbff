// What a vendor has answered in parts, each of which is stored in one transaction without keeping others waiting.
import type { Pulled } from '../connectors/connector.ts'

const SAMPLES_MAX = 10_000
const RECORDS_MAX = 200
/** Maximum length of the records of one part, as JSON. */
const RECORDS_LENGTH_MAX = 500_000

/** The parts of a part. */
export function* smallParts(part: Pulled): Generator<Pulled> {
  if ('resource' in part) yield* slices(part.samples, SAMPLES_MAX, (samples) => ({ resource: part.resource, samples }))
  else if ('streams' in part) yield* slices(part.streams, 1, (streams) => ({ streams }))
  else if ('deleted_keys' in part)
    yield* slices(part.deleted_keys, RECORDS_MAX, (deleted_keys) => ({ kind: part.kind, deleted_keys }))
  else yield* recordParts(part)
}

function* slices<V>(items: readonly V[], max: number, toPart: (slice: V[]) => Pulled): Generator<Pulled> {
  for (let i = 0; i < items.length; i += max) yield toPart(items.slice(i, i + max))
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
