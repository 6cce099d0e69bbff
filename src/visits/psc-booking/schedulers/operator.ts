// The scheduler of production: sites with schedules of the operator, in the sites' time zones.
import { notFound } from '../../../platform/http/errors.ts'
import { SLOT_UNAVAILABLE } from '../../appointments/booking-keys.ts'
import { timeZoneAt } from '../../geocoding/distance.ts'
import type { SiteRecord } from '../../psc/sites.ts'
import { calendarOf, openingsOn, type Schedule } from '../schedule.ts'
import type { SitePlan, Scheduler } from './scheduler.ts'
import { loadSchedules } from '../schedules.ts'

export const operatorScheduler: Scheduler = {
  hasSharedCapacity: true,
  slotTakenError: () => notFound(SLOT_UNAVAILABLE),
  async loadPlans(tx, lab_id, sites) {
    const schedules = await loadSchedules(
      tx,
      lab_id,
      sites.map(({ site_code }) => site_code),
    )
    const plans = new Map<string, SitePlan>()
    for (const site of sites) {
      const schedule = schedules.get(site.site_code)
      if (schedule) plans.set(site.site_code, await createPlan(site, schedule))
    }
    return plans
  },
}

async function createPlan({ lat, lng }: SiteRecord, schedule: Schedule): Promise<SitePlan> {
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
    openings: (day) => openingsOn(schedule, calendar, day),
    offered_from: undefined,
  }
}
