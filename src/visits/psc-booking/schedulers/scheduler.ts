// A scheduler provides the plans of laboratory sites. Free slots and bookings are counted in the same way for all schedulers
// (visits/psc-booking/capacity.ts).
import type { Problem } from '../../../platform/runtime/problem.ts'
import type { Queries } from '../../../platform/db/transaction.ts'
import type { SiteRecord } from '../../psc/sites.ts'
import type { Calendar, Opening } from '../schedule.ts'

/** How a site works, as needed for booking. */
export interface SitePlan {
  zone: string
  calendar: Calendar
  slot_minutes: number
  /** Number of concurrent appointments. */
  places: number
  price: number
  confirms: 'at_once' | 'by_hand'
  openings(day: string): Opening[]
  /** Earlier slots are not offered, but a booking key that was made before can still book them. */
  offered_from: Date | undefined
}

export interface Scheduler {
  /** Returns the plans of sites by code; a site without a plan takes no appointments here. */
  loadPlans(tx: Pick<Queries, 'many'>, lab_id: number, sites: SiteRecord[], now: Date): Promise<Map<string, SitePlan>>
  /** Whether the bookings of all teams of the cell use the capacity, or only the team's own. */
  hasSharedCapacity: boolean
  /** The error for a slot that is taken. */
  slotTakenError(): Problem
}
