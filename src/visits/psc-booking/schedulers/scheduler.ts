// Who offers times at sites of laboratories. A scheduler says how a site works; what of that is free, and whose it becomes, is counted
// the same for all (visits/psc-booking/capacity.ts).
import type { Problem } from '../../../platform/runtime/problem.ts'
import type { Queries } from '../../../platform/db/transaction.ts'
import type { SiteRecord } from '../../psc/sites.ts'
import type { Calendar, Opening } from '../schedule.ts'

/** How a site works, as far as somebody who books has to know. */
export interface SitePlan {
  zone: string
  calendar: Calendar
  slot_minutes: number
  /** How many can come at a time. */
  places: number
  price: number
  confirms: 'at_once' | 'by_hand'
  openings(day: string): Opening[]
  /** Earlier times are not offered, though they may still be booked by who was offered them. */
  offered_from: Date | undefined
}

export interface Scheduler {
  /** The plans of sites by their codes; a site without one takes no appointments here. */
  loadPlans(tx: Pick<Queries, 'many'>, lab_id: number, sites: SiteRecord[], now: Date): Promise<Map<string, SitePlan>>
  /** Whose bookings take places: those of all teams of the cell, or a team's own. */
  hasSharedCapacity: boolean
  /** The answer to somebody who wants a place that is gone. */
  slotTakenError(): Problem
}
