// Posts of clients that were rejected, whole or in part: identical ones are counted. Owns the table rejected_post.
import type { Tx } from '../../platform/db/transaction.ts'
import { raw, sql, type Sql } from '../../platform/db/sql.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { hookPoint } from '../../platform/db/hooks.ts'
import type { Resource } from '../resources/resources.ts'
import { dayOf, EARLIEST_DAY, recordDays, type DayNumber } from './day-records.ts'

/** Different posts that are kept of a user, provider and resource, the newest ones. */
const POSTS_MAX = 20
/** How long a post is shown after it was last sent. */
const SHOWN = raw(`interval '30 days'`)
const MESSAGE_MAX = 300

export interface RejectedPost {
  user_id: string
  provider: string
  resource: string
  /** SHA-256 of the bytes. */
  digest: Buffer
  /** Nothing of it was stored. */
  is_whole: boolean
  /** Samples, records and fields that were rejected; of a whole post 0 if they were not counted. */
  records: number
  /** The first fault, without data of patients. */
  message: string
}

/** Counts a post that was rejected, or of which a part was. Writes rejected_post: the counter of identical posts, and deletes the oldest of more than 20. */
export async function countRejectedPost(tx: Tx, post: RejectedPost): Promise<void> {
  const { user_id, provider, resource, digest, is_whole, records } = post
  const message = post.message.slice(0, MESSAGE_MAX).toWellFormed().replaceAll('\0', '')
  await tx.run(sql`
    insert into rejected_post as r (team_id, user_id, provider, resource, digest, is_whole, records, message, posts, first_at, last_at)
    values (${tx.team}, ${user_id}, ${provider}, ${resource}, ${digest}, ${is_whole}, ${records}, ${message}, 1, ${tx.now}, ${tx.now})
    on conflict (team_id, user_id, provider, resource, digest) do update
    set posts = r.posts + 1, is_whole = excluded.is_whole, records = excluded.records, message = excluded.message,
        last_at = greatest(r.last_at, excluded.last_at)`)
  await tx.run(sql`
    delete from rejected_post
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider} and resource = ${resource}
      and digest in (
        select digest from rejected_post
        where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider} and resource = ${resource}
        order by last_at desc, digest offset ${POSTS_MAX})`)
}

const Row = T.Object({
  user_id: T.String(),
  provider: T.String(),
  resource: T.String(),
  digest: T.String(),
  is_whole: T.Boolean(),
  records: T.Integer(),
  message: T.String(),
  posts: T.Integer(),
  first_at: T.String(),
  last_at: T.String(),
})
export type CountedPost = Static<typeof Row>

/** Posts that were rejected within 30 days; `digest` in hexadecimal digits. @param rest further conditions, and the end of the statement */
export const rejectedPosts = (tx: Tx, rest: Sql): Promise<CountedPost[]> =>
  tx.many(
    Row,
    sql`
    select user_id, provider, resource, encode(digest, 'hex') as digest, is_whole, records, message, posts, first_at, last_at from rejected_post
    where team_id = ${tx.team} and last_at > ${tx.now}::timestamptz - ${SHOWN} and ${rest}`,
  )

const Last = T.Pick(Row, ['user_id', 'provider', 'resource', 'posts', 'last_at'])

/**
 * Lists, by user, provider and resource, the post that was rejected last within 30 days.
 * @param isWhole only posts of which nothing was stored
 */
export const lastRejectedPosts = (tx: Tx, user_ids: string[], isWhole = false): Promise<Static<typeof Last>[]> =>
  tx.many(
    Last,
    sql`
    select distinct on (user_id, provider, resource) user_id, provider, resource, posts, last_at from rejected_post
    where team_id = ${tx.team} and user_id = any (${user_ids}::uuid[]) and last_at > ${tx.now}::timestamptz - ${SHOWN}
      and (is_whole or not ${isWhole})
    order by user_id, provider, resource, last_at desc`,
  )

/** Samples, records or fields of records of a resource were rejected. */
export const recordsRejected = hookPoint<[provider: string, resource: string, count: number]>('ingestion.records_rejected')

/** What was rejected of one resource. */
export interface Rejected {
  user_id: string
  provider: string
  resource: Resource
  count: number
  /** Local days; impossible ones do not count. Without any, the current day. */
  days: DayNumber[]
  /** The first fault, without data of patients. */
  message: string
}

/** The type of the error that days show. */
const REJECTED = 'invalid_data'
/** Days of one rejection that are recorded, the last ones. */
const DAYS_MAX = 92

/**
 * Records that a part of the data of some days was rejected. It must be called after what was stored of these days is recorded. Writes
 * day_record.
 */
export async function recordRejected(tx: Tx, { count, days, message, ...key }: Rejected): Promise<void> {
  if (!count) return
  const today = dayOf(tx.now.getTime())
  const possible = [...new Set(days)].filter((day) => day >= EARLIEST_DAY && day <= today + 1).toSorted((a, b) => b - a)
  const recorded = possible.length ? possible.slice(0, DAYS_MAX) : [today]
  recordDays(tx, { ...key, outcome: 'failed', days: recorded, error: { type: REJECTED, message } })
  await tx.notify(recordsRejected, key.provider, key.resource, count)
}
