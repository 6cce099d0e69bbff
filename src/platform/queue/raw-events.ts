// Events with a record as its provider sent it, which are emitted only for teams that ask for them.
import { hookPoint } from '../db/hooks.ts'
import type { Tx } from '../db/transaction.ts'

/** Asks whether somebody takes the raw events of the team: hooks set `areWanted`. */
export const rawEventsAsked = hookPoint<[{ areWanted: boolean }]>('events.raw_asked')

/** Whether raw events of the team are to be emitted. */
export async function areRawEventsWanted(tx: Tx): Promise<boolean> {
  const asked = { areWanted: false }
  await tx.notify(rawEventsAsked, asked)
  return asked.areWanted
}
