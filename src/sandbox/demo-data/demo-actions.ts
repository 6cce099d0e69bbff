// What a developer makes a demo connection do: record one more sample, or end in an error. Only sandboxes have demo connections.
import { failConnection } from '../../connections/connections/connections.ts'
import { connectionTo } from '../../connections/connections/demo.ts'
import { findUser } from '../../people/users/users.ts'
import { wireTime } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { conflict, invalidField, notFound } from '../../platform/http/errors.ts'
import { ingestSamples, type IncomingSample } from '../../wearables/ingestion/ingest.ts'
import { sampleFault } from '../../wearables/ingestion/plausible.ts'
import { readDetails, typeWithDetails } from '../../wearables/resources/sample-details.ts'
import { resourceNameOf, type TimeseriesName } from '../../wearables/resources/timeseries.ts'
import { zoneOffset } from '../../wearables/resources/zones.ts'
import { summaryIds } from '../../wearables/summaries/summaries.ts'
import { assertSandbox } from '../clock/team-clock.ts'
import { demoPerson, HISTORY_DAYS } from './demo-connections.ts'
import { devices, type DemoProvider } from './demo-devices.ts'
import { localDay, workoutKey, type Person } from './person.ts'
import { createSamples } from './demo-samples.ts'
import type { DemoFailure, DemoSample } from './schema.ts'

/**
 * Records a sample of a demo connection at the present instant of the team's clock or at another one, like the newest one that the device
 * has made up, with another value if there is one. The same instant again replaces it. Writes what `ingestSamples` writes. Emits
 * daily.data.{resource}.created and .updated.
 * Errors: 404 unknown user, no sandbox, or no demo connection with timeseries; 409 the connection is not connected, or its history is not
 * written yet; 422 the provider does not record the resource, or a value or an instant that cannot be.
 */
export async function recordDemoSample(tx: Tx, { user_id: given, provider, resource, value, timestamp }: DemoSample) {
  const { user, person, is_connected } = await getDemoConnection(tx, given, provider)
  if (!person?.has_timeseries) throw notFound('The user has no demo connection with timeseries to this provider')
  if (!is_connected) throw conflict('The demo connection is not connected')
  if (!person.is_complete) throw conflict('The history of the demo connection is not written yet')
  const name = devices[provider].timeseries.find((candidate) => resourceNameOf(candidate) === resource)
  if (!name) throw invalidField(['body', 'resource'], `is not recorded by demo connections to ${provider}`)
  const newest = await newestSample(tx, user.user_id, provider, person.of, name)
  if (!newest) throw conflict('The demo connection has no sample of this resource')
  const at_ms = timestamp === undefined ? tx.now.getTime() : Date.parse(timestamp)
  const sample = { ...withValue(name, newest, value), at_ms, zone_s: zoneOffset(person.of.zone, at_ms) }
  const fault = sampleFault(name, sample, tx.now.getTime())
  if (fault) throw invalidField(['body', fault.field === 'value' ? 'value' : 'timestamp'], fault.text)
  await ingestSamples(tx, user, name, { provider, samples: [sample], historical: false })
  return { success: true, timestamp: wireTime(at_ms) }
}

/** A text is the value of a note, a number that of every other sample. */
function withValue(name: TimeseriesName, sample: IncomingSample, value: DemoSample['value']): IncomingSample {
  if (value === undefined) return sample
  if ((name === 'note') !== (typeof value === 'string'))
    throw invalidField(['body', 'value'], name === 'note' ? 'must be the text of a note' : 'must be a number')
  if (typeof value === 'number') return { ...sample, value }
  const { type, details } = readDetails(name, sample.type)
  return { ...sample, type: typeWithDetails(name, type, { ...details, content: value }) }
}

/** The newest sample of the days that a demo connection has data of; samples of workouts only for stored workouts. */
async function newestSample(tx: Tx, user_id: string, provider: DemoProvider, person: Person, name: TimeseriesName) {
  const now_ms = tx.now.getTime()
  const last = localDay(person.zone, now_ms)
  const days = Array.from({ length: HISTORY_DAYS }, (_, i) => last - i)
  const workouts = await summaryIds(tx, user_id, 'workouts', provider, days.map(workoutKey))
  for (const day of days) {
    const sample = createSamples(person, provider, day, now_ms, workouts.get(workoutKey(day)))
      .get(name)
      ?.at(-1)
    if (sample) return sample
  }
  return undefined
}

/**
 * Ends a demo connection in an error, as the cloud of a provider does; the user connects again to continue. Writes connection. Emits
 * provider.connection.error. Errors: 404 unknown user, no sandbox, or no demo connection; 409 the connection is not connected.
 */
export async function failDemoConnection(tx: Tx, { user_id: given, provider, error_type }: DemoFailure) {
  const { user, person, is_connected } = await getDemoConnection(tx, given, provider)
  if (!person) throw notFound('The user has no demo connection to this provider')
  if (!is_connected) throw conflict('The demo connection is not connected')
  await failConnection(tx, user.user_id, provider, error_type)
  return { success: true }
}

async function getDemoConnection(tx: Tx, user_id: string, provider: DemoProvider) {
  assertSandbox(tx.tenant)
  const user = await findUser(tx, user_id)
  if (!user) throw notFound('User not found')
  const connection = await connectionTo(tx, user.user_id, provider)
  const person = connection?.is_demo ? await demoPerson(tx, user.user_id, provider) : undefined
  return { user, person, is_connected: connection?.status === 'connected' }
}
