// Reasons for cancelling PSC appointments. Source: lab-testing.md 18.
import type { CancellationReason } from '../appointments/schema.ts'
import { badRequest } from '../../platform/http/errors.ts'

export const pscReasons: CancellationReason[] = [
  { id: '5c0257ef-6fea-4a22-b20a-3ddab573d5c9', name: 'Other', is_refundable: true },
]

/** Errors: 400 unknown reason. */
export function assertReason(id: string): void {
  if (!pscReasons.some((reason) => reason.id === id)) throw badRequest('Cancellation reason not found.')
}
