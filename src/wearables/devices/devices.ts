// The devices that recorded a user's data. Owns the table device. Source: users-wearables.md 7, 12; events.md 4.6.
import { eraseTablesOfUser } from '../../platform/db/erasure.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import { notFound } from '../../platform/http/errors.ts'
import { emit } from '../../platform/queue/outbox.ts'
import { Fields, Nullable, OpenEnum, T, Uuid, type Static } from '../../platform/schema/schema.ts'
import { getUser, type UserIdentity } from '../../people/users/users.ts'
import { providerName } from '../../people/users/sources.ts'
import { wireSourceId } from '../resources/data-source.ts'
import { sourceTypes, type SourceType } from '../resources/timeseries.ts'

const nullableText = Nullable(T.String())
export const Device = Fields(
  {
    id: Uuid,
    user_id: Uuid,
    provider: T.String(),
    source_type: OpenEnum(sourceTypes),
    app_id: nullableText,
    device_manufacturer: nullableText,
    device_model: nullableText,
    device_version: nullableText,
    device_id: nullableText,
  },
  { title: 'Device', description: '`device_id` is the provider’s name of the device; sources name it by `id`.' },
)
export type Device = Static<typeof Device>

/** A device, as data that it recorded names it. */
export interface IncomingDevice {
  source_type: SourceType
  manufacturer: string | null
  model: string | null
  /** Version of its firmware or software. */
  version: string | null
  /** The provider's own id, if it has one. */
  device_id: string | null
}

/** What a device is known by for ever: the provider's id, else manufacturer, model and type. A new version is the same device. */
export const deviceKey = ({ device_id, manufacturer, model, source_type }: IncomingDevice): string =>
  JSON.stringify(device_id === null ? [manufacturer, model, source_type] : [device_id])

/** A device in data of a post, with the instant of its newest data: an older version does not replace a newer one. */
export interface SeenDevice {
  device: IncomingDevice
  at_ms: number
}

const deviceColumns = sql`id, user_id, provider, source_type, app_id, manufacturer as device_manufacturer, model as device_model,
  version as device_version, device_id`
const Row = T.Object({ ...Device.properties, source_type: T.String() })
const Known = T.Object({
  id: T.String(),
  key: T.String(),
  manufacturer: nullableText,
  model: nullableText,
  version: nullableText,
  seen_ms: T.Integer(),
})
const Written = T.Object({ ...Row.properties, key: T.String() })

const knownDevices = async (tx: Tx, user_id: string, provider: string, keys: string[]) => {
  const rows = await tx.many(
    Known,
    sql`
    select id, key, manufacturer, model, version, (extract(epoch from seen_at) * 1000)::bigint as seen_ms from device
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider} and key = any (${keys}::text[])`,
  )
  return new Map(rows.map((row) => [row.key, row]))
}

/**
 * Records devices of one provider of a user. Writes device. Emits provider.device.created for new ones, and .updated when newer data has
 * another version, model or manufacturer.
 * @returns the ids of the devices, by `deviceKey`
 */
export async function recordDevices(
  tx: Tx,
  { user_id, client_user_id }: UserIdentity,
  provider: string,
  seenDevices: Iterable<SeenDevice>,
): Promise<Map<string, string>> {
  const newest = new Map<string, SeenDevice>()
  for (const one of seenDevices) {
    const key = deviceKey(one.device)
    const before = newest.get(key)
    if (!before || before.at_ms < one.at_ms) newest.set(key, one)
  }
  if (!newest.size) return new Map()
  const keys = [...newest.keys()].toSorted()
  const before = await knownDevices(tx, user_id, provider, keys)
  const changed = keys.flatMap((key) => {
    const { device, at_ms } = newest.get(key)!
    const old = before.get(key)
    // What says no version says nothing about it.
    const isSame =
      old &&
      (device.version === null || old.version === device.version) &&
      old.model === device.model &&
      old.manufacturer === device.manufacturer
    if (isSame || (old && at_ms <= old.seen_ms)) return []
    return [{ key, ...device, id: tx.uuid(), seen_at: new Date(at_ms).toISOString() }]
  })
  const ids = new Map([...before].map(([key, { id }]) => [key, id]))
  if (!changed.length) return ids
  const written = await tx.locking.many(
    Written,
    sql`
    insert into device as d (team_id, user_id, provider, key, id, source_type, manufacturer, model, version, device_id, seen_at, created_at, updated_at)
    select ${tx.team}, ${user_id}, ${provider}, g.key, g.id, g.source_type, g.manufacturer, g.model, g.version, g.device_id, g.seen_at, ${tx.now}, ${tx.now}
    from jsonb_to_recordset(${JSON.stringify(changed)}::jsonb)
      as g (key text, id uuid, source_type text, manufacturer text, model text, version text, device_id text, seen_at timestamptz)
    order by g.key
    on conflict (team_id, user_id, provider, key) do update
    set manufacturer = excluded.manufacturer, model = excluded.model, version = coalesce(excluded.version, d.version), seen_at = excluded.seen_at,
        updated_at = excluded.updated_at
    where excluded.seen_at > d.seen_at
      and (d.manufacturer, d.model, d.version) is distinct from (excluded.manufacturer, excluded.model, coalesce(excluded.version, d.version))
    returning ${deviceColumns}, key`,
  )
  const newIds = new Set(changed.map(({ id }) => id))
  for (const { key, ...device } of written) {
    ids.set(key, device.id)
    const type = newIds.has(device.id) ? 'provider.device.created' : 'provider.device.updated'
    emit(tx, { type, object_id: device.id, user_id, client_user_id, data: JSON.stringify(device) })
  }
  // Another transaction has recorded the same devices meanwhile.
  const missing = keys.filter((key) => !ids.has(key))
  if (missing.length) for (const [key, { id }] of await knownDevices(tx, user_id, provider, missing)) ids.set(key, id)
  return ids
}

/** Lists the devices of a user, the first recorded first. Errors: 404 unknown user. */
export async function listDevices(tx: Tx, user_id: string): Promise<Device[]> {
  await getUser(tx, user_id)
  const rows = await tx.many(
    Row,
    sql`select ${deviceColumns} from device where team_id = ${tx.team} and user_id = ${user_id} order by created_at, id limit 1000`,
  )
  return rows as Device[]
}

/** Lists the devices of a user as the deprecated raw list shows them. Errors: 404 unknown user. */
export async function listRawDevices(tx: Tx, user_id: string, provider: string | undefined) {
  const devices = (await listDevices(tx, user_id)).filter((device) => provider === undefined || device.provider === provider)
  return devices.map(({ id, device_id, provider, user_id, app_id: _app, ...data }) => ({
    id,
    user_id,
    data: { ...data, device_id },
    provider_id: device_id ?? id,
    source_id: wireSourceId(provider),
    source: { name: providerName(provider), slug: provider, logo: '' },
  }))
}

/** Shows a device of a user. Errors: 404 unknown user, unknown device. */
export async function readDevice(tx: Tx, user_id: string, id: string): Promise<Device> {
  await getUser(tx, user_id)
  const row = await tx.maybe(
    Row,
    sql`select ${deviceColumns} from device where team_id = ${tx.team} and user_id = ${user_id} and id = ${id}`,
  )
  if (!row) throw notFound('The user has no such device')
  return row as Device
}

/** Erases the devices of a user, of one provider or of all. Writes device. */
export const eraseDevices = eraseTablesOfUser('device')
