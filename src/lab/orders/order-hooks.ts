// Who is told of an order's steps within the transaction that makes them: visits, messages. Modules above this one say in app/modules.ts that
// they follow; this module does not know them.
//
// Invariant: a follower may take further steps of the same order and write its own tables; what must reach the network is a job.
import type { Tx } from '../../platform/db/transaction.ts'
import type { OpenOrder } from './open-order.ts'

export interface OrderFollower {
  /** The low-level statuses it wants to hear of. */
  statuses: ReadonlySet<string>
  stepped(tx: Tx, open: OpenOrder, low: string): void | Promise<void>
  /** The date that the order waits for is another one, or none. */
  rescheduled?(tx: Tx, open: OpenOrder): void | Promise<void>
}

let followers: readonly OrderFollower[] = []

/** Say who follows, once for the process, before the first order changes. */
export function setOrderFollowers(list: readonly OrderFollower[]): void {
  followers = list
}

/** More steps than all followers together add in one transaction. */
const STEPS_MAX = 20

/** Tell the followers of an order's steps, those included that they take themselves. */
export async function tellFollowers(tx: Tx, open: OpenOrder): Promise<void> {
  for (let told = 0; told < open.stepsTaken.length; told++) {
    if (told === STEPS_MAX) throw new Error('the followers of an order keep each other going')
    const low = open.stepsTaken[told]!
    for (const follower of followers) if (follower.statuses.has(low)) await follower.stepped(tx, open, low)
  }
}

/** Tell the followers that an order waits for another date, or for none any more. */
export async function tellRescheduled(tx: Tx, open: OpenOrder): Promise<void> {
  for (const follower of followers) await follower.rescheduled?.(tx, open)
}
