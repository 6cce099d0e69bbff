// Our own scheduler: sites whose schedules the operator keeps, in the time zones of their places.
import { notFound } from '../../../platform/http/errors.ts'
import { SLOT_GONE } from '../../appointments/booking-keys.ts'
import { timeZoneAt } from '../../geocoding/distance.ts'
import type { SiteRecord } from '../../psc/sites.ts'
import { calendarOf, openingsOf, type Schedule } from '../schedule.ts'
import type { Plan, Scheduler } from './scheduler.ts'
import { schedulesOf } from '../schedules.ts'

export const ownScheduler: Scheduler = {
  shared: true,
  full: () => notFound(SLOT_GONE),
  async plans(tx, lab_id, sites) {
    const schedules = await schedulesOf(
      tx,
      lab_id,
      sites.map(({ site_code }) => site_code),
    )
    const plans = new Map<string, Plan>()
    for (const site of sites) {
      const schedule = schedules.get(site.site_code)
      if (schedule) plans.set(site.site_code, await planOf(site, schedule))
    }
    return plans
  },
}

async function planOf({ lat, lng }: SiteRecord, schedule: Schedule): Promise<Plan> {
  const zone = (await timeZoneAt(lat, lng))!
  const calendar = await calendarOf(zone)
  const { slot_minutes, places, price, confirms } = schedule
  return {
    zone,
    calendar,
    slot_minutes,
    places,
    price,
    confirms,
    openings: (day) => openingsOf(schedule, calendar, day),
    offered_from: undefined,
  }
}
