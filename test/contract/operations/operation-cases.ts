// The form of the tests over the list of operations.
import { describe, test } from 'node:test'
import { contents } from '../../../src/app/contents.ts'
import type { Operation } from '../../../src/platform/http/operation.ts'
import type { Reply } from '../../support/server.ts'
import type { Loc } from './invalid-values.ts'

const { operations } = contents

export const forTeams = operations.filter((operation) => operation.auth === 'team')
/** With a body that is an object, as nearly all are. */
export const withBody = operations.filter(({ body }) => (body as { type?: string } | undefined)?.type === 'object')
/** It may go without one only where a single environment is served. */
const NEEDS_BODY = 'create_team_access_token'
/** The body is one of the provider's. */
const OF_PROVIDER = 'receive_provider_notification'
export const withoutBody = operations.filter(
  ({ id, body, body_optional, file }) => id !== NEEDS_BODY && id !== OF_PROVIDER && !file && (!body || body_optional),
)
export const keyedOperations = operations.filter(({ auth, idempotency }) => auth === 'team' && idempotency)
/** Whether the body may have declared keys only. */
export const forbidsExtraProperties = ({ body }: Operation): boolean =>
  (body as { additionalProperties?: boolean } | undefined)?.additionalProperties === false
export const writing = operations.filter((operation) => operation.method !== 'GET')

/** One test for each operation of a list. */
export const testEach = (sentence: string, list: Operation[], check: (operation: Operation) => Promise<void>): void =>
  void describe(sentence, () => {
    for (const operation of list) test(operation.id, () => check(operation))
  })

export const success = (reply: Reply): boolean => reply.status >= 200 && reply.status < 300
/** Where the faults of a refused request are. */
export const locs = (reply: Reply): Loc[] => reply.body.detail.map((fault: { loc: Loc }) => fault.loc)
export const asJson = { 'content-type': 'application/json' }
export const describeReply = (reply: Reply): string => `HTTP ${reply.status}: ${JSON.stringify(reply.body)}`

/** Status for a user who is not there: 400 where the source says so, else 404. Source: users-wearables.md 2.3. */
export const unknownStatus = ({ id }: Operation): number => (['generate_link_token', 'create_link_code'].includes(id) ? 400 : 404)

/** Operations that return an empty list for unknown ids: filters of lists, and events that are repeated for own orders only. */
export const findsNothing: ReadonlySet<string> = new Set([
  'get_orders',
  'list_order_rows',
  'list_events',
  'list_event_rows',
  'search_ids',
  'list_user_rows',
  'list_patient_messages',
  'resend_events',
  'search_team_users',
  'list_team_unmatched_results',
  'list_unmatched_results',
  'list_lab_messages',
  'list_lab_link_issues',
  'introspect_resources',
  'introspect_historical_pulls',
  'introspect_rejected_posts',
  'introspect_repeated_posts',
  'introspect_sync_progress',
])
