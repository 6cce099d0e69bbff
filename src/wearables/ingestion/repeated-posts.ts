// Clients that send the same data again and again: posts that have data and change nothing are counted, by user, provider and resource,
// within a day from the first of them. A healthy phone repeats a post a few times. Owns the table repeated_post.
import { hookPoint } from '../../platform/db/hooks.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { raw, sql, type Sql } from '../../platform/db/sql.ts'
import { T, type Static } from '../../platform/schema/schema.ts'

/** The number of posts in a day from which on a client is reported. The index repeated_post__many has the same number. */
const REPEATED_POSTS = 100
const WINDOW = raw(`interval '1 day'`)

/** A client has sent as many posts that change nothing as are reported, for the first time within a day. */
export const postsRepeated = hookPoint<[provider: string, posts: number]>('ingestion.posts_repeated')

const Counted = T.Object({ posts: T.Integer() })

/**
 * Counts a post that had data and changed nothing. It has a statement of its own, which such a post saves elsewhere, since it writes no
 * chunk; the last one of the post that waits for locks. Writes repeated_post.
 */
export async function countRepeatedPost(
  tx: Tx,
  { user_id, provider, resource }: { user_id: string; provider: string; resource: string },
): Promise<void> {
  const { posts } = await tx.one(
    Counted,
    sql`
    insert into repeated_post as r (team_id, user_id, provider, resource, posts, first_at, last_at)
    values (${tx.team}, ${user_id}, ${provider}, ${resource}, 1, ${tx.now}, ${tx.now})
    on conflict (team_id, user_id, provider, resource) do update
    set posts = case when excluded.first_at - r.first_at > ${WINDOW} then 1 else r.posts + 1 end,
        first_at = case when excluded.first_at - r.first_at > ${WINDOW} then excluded.first_at else r.first_at end,
        last_at = greatest(r.last_at, excluded.last_at)
    returning posts`,
  )
  if (posts === REPEATED_POSTS) await tx.notify(postsRepeated, provider, posts)
}

const Row = T.Object({
  user_id: T.String(),
  provider: T.String(),
  resource: T.String(),
  posts: T.Integer(),
  first_at: T.String(),
  last_at: T.String(),
})
export type RepeatedPosts = Static<typeof Row>

/** The counts that are reported and whose last post came within a day. @param rest further conditions, and the end of the statement */
export const repeatedPosts = (tx: Tx, rest: Sql): Promise<RepeatedPosts[]> =>
  tx.many(
    Row,
    sql`
    select user_id, provider, resource, posts, first_at, last_at from repeated_post
    where team_id = ${tx.team} and posts >= ${raw(String(REPEATED_POSTS))} and last_at > ${tx.now}::timestamptz - ${WINDOW} and ${rest}`,
  )
