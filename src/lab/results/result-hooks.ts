// Hook point for modules that pass results on.
import { hookPoint } from '../../platform/db/hooks.ts'
import type { LockedOrder } from '../orders/locked-order.ts'

/** A report became or replaced the result of an order, whatever its status. */
export const resultReceived = hookPoint<[lockedOrder: LockedOrder]>('results.received')
