// Phlebotomists who visit one ZIP code, many, with visits that are booked, and the question when they can come.
import type pg from 'pg'

export const STAFF = 200
const ADDRESS = { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip_code: '85004' }
const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** Creates the fields of a phlebotomist. Hours, windows and prices vary with `n`; some phlebotomists share them. */
function phlebotomist(n: number): Record<string, unknown> {
  const hours = [{ from: `${String(6 + (n % 5)).padStart(2, '0')}:${n % 2 ? '30' : '00'}`, to: `${14 + (n % 7)}:00` }]
  return {
    name: `Fictional ${n}`,
    service_area: { zips: ['85004'], center: { lat: 33.45, lng: -112.07 }, radius_miles: 10 + (n % 20) },
    hours: Object.fromEntries(DAYS.map((day) => [day, hours])),
    window_min: n % 3 ? 120 : 60,
    capacity: 1 + (n % 4),
    price_cents: n % 2 ? 3500 : 4200,
    notice_min: 0,
  }
}

export interface HttpTarget {
  url: string
  /** Of a team in production. */
  key: string
  management_key: string
  org_id: string
  team: string
}

/** Employs them, each with some visits of the next days. @returns a question that takes them all into account */
export async function fillVisits(
  db: pg.Client,
  { url, key, management_key, org_id, team }: HttpTarget,
): Promise<() => Promise<void>> {
  const asking = { 'content-type': 'application/json' }
  for (let n = 0; n < STAFF; n++) {
    const response = await fetch(`${url}/v1/org/${org_id}/phlebotomist/production/us/staff-${n}`, {
      method: 'PUT',
      headers: { ...asking, 'x-management-key': management_key },
      body: JSON.stringify(phlebotomist(n)),
    })
    if (!response.ok) throw new Error(`a phlebotomist: ${response.status} ${await response.text()}`)
  }
  // Visits without appointments: only their times count here.
  await db.query('alter table production_us.phlebotomy_visit drop constraint phlebotomy_visit_team_id_appointment_id_fkey')
  await db.query(
    `insert into production_us.phlebotomy_visit (appointment_id, team_id, user_id, provider, staff_id, start_at, end_at, blocked_minutes, visit_details)
     select gen_random_uuid(), $1, gen_random_uuid(), 'getlabs', id, at, at + interval '2 hours', 60, '{}'
     from production_us.phlebotomist,
          generate_series(date_trunc('day', clock_timestamp()) + interval '1 day 16 hours', clock_timestamp() + interval '13 days', interval '1 day') as at`,
    [team],
  )
  return async () => {
    const response = await fetch(`${url}/v3/order/phlebotomy/appointment/availability`, {
      method: 'POST',
      headers: { ...asking, 'x-service-api-key': key },
      body: JSON.stringify(ADDRESS),
    })
    const { slots } = (await response.json()) as { slots: { slots: unknown[] }[] }
    // Nobody works on Sundays.
    const days = slots?.filter((day) => day.slots.length > 0)
    if (slots?.length !== 14 || days.length < 11) throw new Error(`${response.status}: ${days?.length} days with windows`)
  }
}
