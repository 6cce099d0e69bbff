// Staff: the phlebotomists and teams of an organization, and the operator's own, who serve every team. Owns phlebotomist; does not know
// visits.
import { iso } from '../../platform/runtime/clock.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { assertBelowLimit, invalidField, notFound } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { boxesAround, milesBetween, timeZoneAt } from '../geocoding/distance.ts'
import { findPlace, type Point } from '../geocoding/postal-places.ts'
import {
  minutesOf,
  defaults,
  weekdays,
  type StaffHours,
  type StaffInput,
  type StaffRecord,
  type ServiceType,
} from './staff-schema.ts'
import type { Hours, Schedule } from './time-windows.ts'

/** Maximum number of phlebotomists and teams of one owner in a cell. */
export const STAFF_MAX = 2000

const Row = T.Object({ document: T.String() })
const parseStaffRecord = ({ document }: { document: string }): StaffRecord => JSON.parse(document) as StaffRecord

const ownerCondition = (org_id: string | null): Sql => sql`org_id is not distinct from ${org_id}::uuid`

/** Returns all staff of an owner, by reference. */
export const listStaff = async (queries: Pick<Queries, 'many'>, org_id: string | null): Promise<StaffRecord[]> =>
  (
    await queries.many(
      Row,
      sql`select document from phlebotomist where ${ownerCondition(org_id)} order by reference collate "C" limit ${STAFF_MAX}`,
    )
  ).map(parseStaffRecord)

const Known = T.Object({ id: T.String(), document: T.String() })

/**
 * Creates staff under the owner's reference, or replaces it. Booked visits stay. Writes phlebotomist.
 * Errors: 400 the owner already has 2,000; 422 no time zone is given and the area determines none.
 */
export async function putStaff(tx: PlainTx, org_id: string | null, reference: string, input: StaffInput): Promise<StaffRecord> {
  await tx.locking.run(sql`select pg_advisory_xact_lock(hashtextextended(${`phlebotomists ${org_id}`}, 0))`)
  const known = await tx.locking.maybe(
    Known,
    sql`select id, document from phlebotomist where ${ownerCondition(org_id)} and reference = ${reference} for no key update`,
  )
  if (!known) {
    const present = sql`select count(*) as n from phlebotomist where ${ownerCondition(org_id)}`
    await assertBelowLimit(tx, present, STAFF_MAX, 'An owner', 'phlebotomists per cell')
  }
  const now = iso(tx.now)
  const record: StaffRecord = {
    ...(await createStaffRow(tx, input)),
    id: known?.id ?? tx.uuid(),
    org_id,
    reference,
    created_at: known ? parseStaffRecord(known).created_at : now,
    updated_at: now,
  }
  await tx.run(sql`
    insert into phlebotomist (id, org_id, reference, is_active, service_types, zips, service_box, document)
    values (${record.id}, ${org_id}, ${reference}, ${record.is_active}, ${record.service_types}, ${record.service_area.zips},
            ${areaOf(record)}, ${JSON.stringify(record)})
    on conflict on constraint phlebotomist__reference do update set
      is_active = excluded.is_active, service_types = excluded.service_types, zips = excluded.zips, service_box = excluded.service_box,
      document = excluded.document`)
  return record
}

/** Removes staff. Writes phlebotomist. Errors: 400 it has booked visits; 404 unknown reference. */
export async function removeStaff(tx: PlainTx, org_id: string | null, reference: string): Promise<void> {
  const deletedCount = await tx.run(sql`delete from phlebotomist where ${ownerCondition(org_id)} and reference = ${reference}`)
  if (!deletedCount) throw notFound('Phlebotomist not found')
}

type StaffRow = Omit<StaffRecord, 'id' | 'org_id' | 'reference' | 'created_at' | 'updated_at'>

async function createStaffRow(tx: PlainTx, input: StaffInput): Promise<StaffRow> {
  const { zips = [], center = null, radius_miles = null } = input.service_area
  const time_zone = input.time_zone ?? (await findZone(tx, center, zips))
  if (time_zone === undefined)
    throw invalidField(['body', 'time_zone'], 'is required: no time zone is known for the first ZIP code of the service area')
  const sorted = (hours: StaffHours[] = []) => hours.toSorted((a, b) => minutesOf(a.from) - minutesOf(b.from))
  return {
    ...defaults,
    ...input,
    service_types: [...new Set(input.service_types ?? defaults.service_types)],
    service_area: { zips: [...new Set(zips)], center, radius_miles },
    time_zone,
    hours: Object.fromEntries(weekdays.map((weekday) => [weekday, sorted(input.hours[weekday])])) as StaffRecord['hours'],
    days_off: [...new Set(input.days_off)].sort(),
    priority: input.priority ?? null,
  }
}

async function findZone(tx: PlainTx, center: Point | null, zips: string[]): Promise<string | undefined> {
  const point = center ?? (await findPlace(tx, { country: 'US', postal_code: zips[0]! }))
  return point && timeZoneAt(point.lat, point.lng)
}

/** The bounding box of the service area as PostgreSQL writes it; it covers all longitudes if the circle crosses the 180th meridian. */
function areaOf({ service_area: { center, radius_miles } }: StaffRecord): string | null {
  if (!center || radius_miles === null) return null
  const boxes = boxesAround(center, radius_miles)
  const [{ south, north, west, east }] = boxes.length === 1 ? [boxes[0]!] : [{ ...boxes[0]!, west: -180, east: 180 }]
  return `(${east},${north}),(${west},${south})`
}

/** Returns the staff with a reference of the organization, otherwise of the operator. */
export async function findStaff(
  queries: Pick<Queries, 'many'>,
  org_id: string,
  reference: string,
): Promise<StaffRecord | undefined> {
  const rows = await queries.many(
    Row,
    sql`
    select document from phlebotomist where reference = ${reference} and (org_id = ${org_id} or org_id is null)
    order by org_id nulls last limit 1`,
  )
  return rows.map(parseStaffRecord)[0]
}

/** The location of a patient. */
export interface PatientLocation extends Point {
  /** Five digits. */
  zip: string
}

/** Returns the staff that serve a location, of the organization and of the operator, in the order of their ids. */
export async function findStaffServing(
  queries: Pick<Queries, 'many'>,
  org_id: string,
  where: PatientLocation,
  service: ServiceType,
): Promise<StaffRecord[]> {
  const { lng, lat, zip } = where
  const rows = await queries.many(
    Row,
    sql`
    select document from phlebotomist
    where (zips @> array[${zip}]::text[] or service_box @> box(point(${lng}, ${lat}), point(${lng}, ${lat})))
      and is_active and ${service} = any (service_types) and (org_id is null or org_id = ${org_id})
    order by id`,
  )
  return rows.map(parseStaffRecord).filter((staff) => servesLocation(staff, where))
}

function servesLocation({ service_area: { zips, center, radius_miles } }: StaffRecord, where: PatientLocation): boolean {
  if (zips.includes(where.zip)) return true
  return center !== null && radius_miles !== null && milesBetween(center, where) <= radius_miles
}

const toMinutes = ({ from, to }: StaffHours): Hours => ({ from_min: minutesOf(from), to_min: minutesOf(to) })

/** The fields of staff that determine its windows. */
export const scheduleOf = (staff: StaffRecord): Schedule => ({
  ...staff,
  hours: weekdays.map((weekday) => staff.hours[weekday].map(toMinutes)),
  days_off: new Set(staff.days_off),
  priority: staff.priority ? { price_cents: staff.priority.price_cents, hours: staff.priority.hours.map(toMinutes) } : undefined,
})
