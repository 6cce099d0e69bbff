// Events with a record as its provider sent it, which are emitted only for teams that ask for them.
import { hookPoint } from '../db/hooks.ts'
import type { Tx } from '../db/transaction.ts'

/** Checks whether the team has a receiver for raw events: hooks set `areWanted`. */
export const rawEventsWanted = hookPoint<[{ areWanted: boolean }]>('events.raw_wanted')

/** Whether raw events of the team are to be emitted. */
export async function areRawEventsWanted(tx: Tx): Promise<boolean> {
  const wanted = { areWanted: false }
  await tx.notify(rawEventsWanted, wanted)
  return wanted.areWanted
}
