// What came in for the resources of users, and how far their histories were received. Source: users-wearables.md 5, 13.
import { notDeleted } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { join, sql, type Sql } from '../../platform/db/sql.ts'
import { Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { version } from '../../platform/runtime/version.ts'
import { T } from '../../platform/schema/schema.ts'
import { isTimeseries, resourceNameOf } from '../../wearables/resources/timeseries.ts'
import { historicalPulls, type HistoricalPull } from '../../wearables/ingestion/historical-pulls.ts'
import { lastRejectedPosts } from '../../wearables/ingestion/rejected-posts.ts'
import { resourceStates, type ResourceState } from '../../wearables/ingestion/resource-states.ts'
import type { Resource } from '../../wearables/resources/resources.ts'
import { withCompanions } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/connectors.ts'
import { listAttempts, type Attempt } from '../pulls/ledger.ts'
import {
  USERS,
  type ProviderPulls,
  type ResourceStatistics,
  type UserHistoricalPulls,
  type UserQuery,
  type UserResources,
} from './schema.ts'
import { availableResources } from '../connections/availability.ts'

const UserRow = T.Object({ user_id: T.String() })

/** A page of the users that have a row in one of the tables, in the order of their ids. Errors: 400 a cursor of another list. */
async function pageOfUsers(tx: Tx, list: string, tables: Sql[], query: UserQuery) {
  const { user_id, provider, user_limit: limit } = query
  const next_cursor = query.next_cursor || query.cursor || undefined
  const pages = new Pages(`${list} ${user_id ?? ''} ${provider ?? ''}`, { next_cursor, limit }, [uuidKey(sql`user_id`)], {
    limit: USERS,
    order: 'asc',
  })
  // Each part reads no more users than a page has.
  const parts = tables.map(
    (table) => sql`(
      select user_id from ${table}
      where team_id = ${tx.team} and user_id = coalesce(${user_id ?? null}, user_id) and provider = coalesce(${provider ?? null}, provider)
        and ${notDeleted(tx, sql`user_id`)} and ${pages.afterCursor}
      group by user_id ${pages.order})`,
  )
  const rows = await tx.many(UserRow, sql`select user_id from (${join(parts, ' union ')}) as found ${pages.order}`)
  const cut = pages.cut(rows, (row) => [row.user_id])
  return { user_ids: cut.page.map((row) => row.user_id), next_cursor: cut.next_cursor }
}

/** Groups of a page, in the order of its users; a user without any is shown without providers. */
const byUser = <V>(user_ids: string[]): Map<string, Record<string, V>> => new Map(user_ids.map((user_id) => [user_id, {}]))
const toUserList = <V>(users: Map<string, Record<string, V>>) => [...users].map(([user_id, provider]) => ({ user_id, provider }))

const emptyStatistics = (): ResourceStatistics => ({ last_attempt: null, oldest_data: null, newest_data: null, sent_count: 0 })

/** A post that is rejected changes none of it, so that what has come of an attempt has succeeded. */
const statisticsOf = ({ last_attempt_at, oldest_data, newest_data, sent_count }: ResourceState): ResourceStatistics => ({
  last_attempt: { timestamp: last_attempt_at, status: 'success' },
  oldest_data,
  newest_data,
  sent_count,
})

/** Adds an attempt to ask the cloud of a provider, or a post that was rejected, if it is the last one: it may have failed, or found nothing. */
function addAttempt(
  statistics: Record<string, ResourceStatistics>,
  resource: string,
  { asked_at, result }: Pick<Attempt, 'asked_at' | 'result'>,
): void {
  const before = statistics[resource] ?? emptyStatistics()
  const isLast = before.last_attempt === null || Date.parse(before.last_attempt.timestamp) <= Date.parse(asked_at)
  if (isLast)
    statistics[resource] = {
      ...before,
      last_attempt: { timestamp: asked_at, status: result === 'failed' ? 'failure' : 'success' },
    }
}

/**
 * Lists, by user, provider and resource, the last attempt of a client to send data or of this server to ask a cloud for it, the newest and
 * oldest data, and how many records were sent on. A resource that the user allows and for which nothing was tried has no attempt.
 * Errors: 400 a cursor of another list.
 */
export async function introspectResources(tx: Tx, query: UserQuery): Promise<UserResources> {
  const { user_ids, next_cursor } = await pageOfUsers(
    tx,
    'resources',
    [sql`connection`, sql`resource_state`, sql`rejected_post`],
    query,
  )
  const users = byUser<Record<string, ResourceStatistics>>(user_ids)
  for (const { user_id, provider, resources } of await availableResources(tx, user_ids, query.provider))
    users.get(user_id)![provider] = Object.fromEntries(resources.map((resource) => [resource, emptyStatistics()]))
  for (const state of await resourceStates(tx, user_ids, query.provider))
    (users.get(state.user_id)![state.provider] ??= {})[state.resource] = statisticsOf(state)
  for (const { user_id, provider, resource, last_at } of await lastRejectedPosts(tx, user_ids, true)) {
    if (query.provider !== undefined && query.provider !== provider) continue
    const ofProvider = (users.get(user_id)![provider] ??= {})
    // What was stored in the same second came after it: a phone sends again what was rejected.
    if (ofProvider[resource]?.last_attempt?.timestamp !== last_at)
      addAttempt(ofProvider, resource, { asked_at: last_at, result: 'failed' })
  }
  for (const attempt of await listAttempts(tx, user_ids, query.provider)) {
    const ofProvider = (users.get(attempt.user_id)![attempt.provider] ??= {})
    for (const resource of withCompanions(connectorOf(attempt.provider), attempt.resource as Resource))
      addAttempt(ofProvider, resource, attempt)
  }
  return { data: toUserList(users), next: next_cursor, next_cursor }
}

function statusOf({ started_at, ended_at, error }: Pick<HistoricalPull, 'started_at' | 'ended_at' | 'error'>) {
  if (ended_at !== null) return error === null ? 'success' : 'failure'
  if (error !== null) return 'retrying'
  return started_at === null ? 'scheduled' : 'in_progress'
}

const pullOf = ({
  range_start,
  range_end,
  started_at,
  ended_at,
  scheduled_at,
  error,
  days_with_data,
}: HistoricalPull): ProviderPulls['pulled'][string] => ({
  status: statusOf({ started_at, ended_at, error }),
  range_start,
  range_end,
  // A phone decides when it sends a history: there is nothing to schedule before its first post.
  timeline: { scheduled_at: (scheduled_at ?? started_at ?? ended_at)!, started_at, ended_at },
  days_with_data,
  release: version,
  trace_id: null,
  error_details: error as ProviderPulls['pulled'][string]['error_details'],
})

/**
 * Lists, by user and provider, the resources whose history was received or is being received, and those that the user allows and whose
 * history was not. Errors: 400 a cursor of another list.
 */
export async function introspectHistoricalPulls(tx: Tx, query: UserQuery): Promise<UserHistoricalPulls> {
  const { user_ids, next_cursor } = await pageOfUsers(tx, 'historical pulls', [sql`connection`], query)
  const users = byUser<ProviderPulls>(user_ids)
  for (const { user_id, provider, resources } of await availableResources(tx, user_ids, query.provider))
    users.get(user_id)![provider] = { pulled: {}, not_pulled: resources }
  for (const pull of await historicalPulls(tx, user_ids, query.provider)) {
    const ofProvider = users.get(pull.user_id)![pull.provider]
    if (!ofProvider) continue
    const name = isTimeseries(pull.resource) ? resourceNameOf(pull.resource) : pull.resource
    ofProvider.pulled[name] = pullOf(pull)
    ofProvider.not_pulled = ofProvider.not_pulled.filter((resource) => resource !== name)
  }
  return { data: toUserList(users), next: next_cursor, next_cursor }
}
