// Hook point for modules that store more about incoming results.
import { hookPoint } from '../../platform/db/hooks.ts'

/** An operator has assigned a result to the team of the transaction. */
export const resultAssigned = hookPoint<[raw_result_id: string]>('result-matching.assigned')
