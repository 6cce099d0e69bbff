// Reasons for cancelling at-home appointments. Source: lab-testing.md 19.4.
import type { CancellationReason } from '../appointments/schema.ts'
import { badRequest } from '../../platform/http/errors.ts'

const names = {
  '5c0257ef-6fea-4a22-b20a-3ddab573d5c9': 'Did not fast for appointment',
  '448c519c-64b4-4497-ae73-622fa93371b3': 'Do not trust company',
  'd378e152-12d1-433e-9dd1-e0410f9331dc': 'Getlabs cannot deliver to my preferred lab',
  '5330c863-ac80-4316-901b-d305d0df74d5': 'No longer interested',
  '2b9f23fd-163e-4483-bb10-90c74a67e0dc': 'Other',
  '98f861dd-fe61-4817-a9d6-1b99b19cd0fb': 'Provider asked me to cancel',
  '7dfd7da5-ed6e-40bb-a7e4-c8003f0c10a9': 'Scheduled for wrong patient',
  '796da8c8-e654-4347-8ded-1026410c1976': 'Scheduled time no longer works',
  'ba02af35-a34f-4a7a-abe5-5f766e8f6cd1': 'Unable to get lab order from provider',
  '0c9425db-f11e-49c5-b976-3c0d1d4a4ea8': 'Wanted to book in-person appointment',
  '2599a0ea-0b4a-42fe-8df6-d8f7c68182e7': 'Went to lab for appointment',
}

export const reasons: CancellationReason[] = Object.entries(names).map(([id, name]) => ({ id, name, is_refundable: true }))

/** Errors: 400 unknown reason. */
export function assertReason(id: string): void {
  if (!Object.hasOwn(names, id)) throw badRequest('Cancellation reason not found.')
}
