// The list of what a person must look at on links: messages with a reason, and the rows of lab_link_issue. Without patient data.
import { dbNow } from '../../platform/db/leases.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import { instantKey, Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { notFound } from '../../platform/http/errors.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { uuid } from '../../platform/runtime/uuid.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { userNotDeleted } from '../../people/users/users.ts'
import { joinConditions, raw, sql, type Sql } from '../../platform/db/sql.ts'
import { issueTexts, type IssueReason } from './issue-reasons.ts'
import { markDone } from './message-store.ts'
import { COUNTED_MAX, LinkIssue, type OpenIssues } from './schema.ts'

interface NewIssue {
  reason: IssueReason
  /** Null: no link is known. */
  link_account_id: string | null
  message_id?: string
  source?: string
  /** The team of the order that `source` names. */
  order_team_id?: string
  /** At most 1,000 characters, without patient data. */
  detail?: string
}

const DETAIL_LENGTH_MAX = 1000

/**
 * Reports an issue. While the same one is open it is counted; one of a message is not, because its processing may be repeated. Writes
 * lab_link_issue.
 */
export async function reportIssue(
  db: Queries,
  { reason, link_account_id, message_id, source, order_team_id, detail }: NewIssue,
): Promise<void> {
  await db.run(sql`
    insert into lab_link_issue (id, link_account_id, message_id, source, order_team_id, reason, detail, state, created_at, updated_at)
    values (${uuid()}, ${link_account_id}, ${message_id ?? null}, ${source ?? null}, ${order_team_id ?? null}, ${reason},
            ${detail?.slice(0, DETAIL_LENGTH_MAX) ?? null}, 'open', ${dbNow}, ${dbNow})
    on conflict (link_account_id, message_id, source, reason) where state = 'open' do update
    set count = lab_link_issue.count + case when excluded.message_id is null then 1 else 0 end, detail = excluded.detail,
        updated_at = excluded.updated_at`)
}

const IssueRow = T.Omit(LinkIssue, ['text', 'remedy'])

/** `user_id`: of its order, which is not named if the user is deleted. */
export type Issue = LinkIssue & { user_id: string | null }

/** The order of an issue without a message. */
const orderOfSource = sql`
  case when i.reason = 'unsendable_order'
       then substring(i.source from '^order ([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$')::uuid end`

/** Messages with a reason and the other issues, as one relation `i`. An incoming message that was processed after all has no reason. */
const issueRows = sql`
  (select m.id, m.reason, m.link_account_id, m.id as message_id, m.source, null::uuid as order_team_id, m.error as detail, m.repetitions + 1 as count,
          case when m.state = 'done' then 'done' else 'open' end as state, m.comment, m.created_at, m.updated_at
   from lab_message m where m.reason is not null
   union all
   select q.id, q.reason, q.link_account_id, q.message_id, q.source, q.order_team_id, q.detail, q.count, q.state, q.comment, q.created_at, q.updated_at
   from lab_link_issue q) i
  left join lab_account a on a.id = i.link_account_id left join lab l on l.id = a.lab_id
  left join lab_message m on m.id = i.message_id`

const issueColumns = sql`
  i.id, i.reason, i.link_account_id as account_id, a.provider_account_id as account_number, l.slug as lab, i.message_id,
  coalesce(m.order_id, ${orderOfSource}) as order_id, coalesce(m.team_id, i.order_team_id) as team_id, i.source, i.detail, i.count, i.state, i.comment, i.created_at, i.updated_at`

interface IssueFilter {
  account_id?: string | undefined
  reason?: readonly string[] | undefined
  state?: 'open' | 'done' | undefined
  next_cursor?: string | undefined
  limit?: number | undefined
}

/**
 * Issues, newest first. Errors: 400 a cursor of another list.
 * @param org_id of the accounts; undefined: every organization, and what belongs to no link
 */
export async function listIssues(
  db: Queries,
  { account_id, reason, state, ...page }: IssueFilter,
  org_id?: string,
): Promise<{ data: Issue[]; next_cursor: string | null }> {
  const pages = new Pages(`lab link issues ${JSON.stringify([org_id, account_id, reason, state])}`, page, [
    instantKey(raw('i.created_at')),
    uuidKey(raw('i.id')),
  ])
  const conditions = [pages.afterCursor, ofOrg(org_id)]
  if (account_id !== undefined) conditions.push(sql`i.link_account_id = ${account_id}`)
  if (reason?.length) conditions.push(sql`i.reason = any (${reason}::text[])`)
  if (state !== undefined) conditions.push(sql`i.state = ${state}`)
  const rows = await db.many(
    IssueRow,
    sql`select ${issueColumns} from ${issueRows} where ${joinConditions(conditions)} ${pages.order}`,
  )
  const { page: shown, next_cursor } = pages.cut(rows, ({ created_at, id }) => [created_at, id])
  return { data: await toIssues(db, shown), next_cursor }
}

const ofOrg = (org_id: string | undefined): Sql => (org_id === undefined ? sql`true` : sql`a.org_id = ${org_id}`)

const Counted = T.Object({ count: T.Integer() })

/**
 * The number of open issues of an organization's accounts, without their orders. Each account is counted by itself, and in the order of its
 * index: the issues of other organizations are not read, however many they are.
 */
export async function countOpenIssues(db: Queries, org_id: string): Promise<OpenIssues> {
  const { count } = await db.one(
    Counted,
    sql`
    select count(*)::int as count from (
      select from lab_account a cross join lateral (
        (select from lab_message m where m.link_account_id = a.id and m.reason is not null and m.state <> 'done'
         order by m.created_at limit ${COUNTED_MAX})
        union all
        (select from lab_link_issue q where q.link_account_id = a.id and q.state = 'open' limit ${COUNTED_MAX})) i
      where a.org_id = ${org_id} limit ${COUNTED_MAX}) counted`,
  )
  return { count, is_exact: count < COUNTED_MAX }
}

const Order = T.Object({ id: T.String(), team_id: T.String(), user_id: T.String() })

/** Issues with their orders, which may be on other nodes of the database. */
async function toIssues(db: Queries, rows: Static<typeof IssueRow>[]): Promise<Issue[]> {
  const named = rows.filter(({ order_id, team_id }) => order_id !== null && team_id !== null)
  const orders = named.length
    ? await db.many(
        Order,
        sql`
        select o.id, o.team_id, o.user_id
        from unnest(${named.map(({ team_id }) => team_id)}::uuid[], ${named.map(({ order_id }) => order_id)}::uuid[]) as named (team_id, id)
        join lab_order o on o.team_id = named.team_id and o.id = named.id
        where ${userNotDeleted(sql`o.user_id`, sql`o.team_id`)}`,
      )
    : []
  const orderOf = new Map(orders.map((order) => [order.id, order]))
  return rows.map((row) => {
    const { id = null, team_id = null, user_id = null } = orderOf.get(row.order_id ?? '') ?? {}
    const { text, remedy } = issueTexts[row.reason]
    return { ...row, order_id: id, team_id, user_id, text, remedy }
  })
}

interface FinishOptions {
  /** As of `listIssues`. */
  org_id?: string | undefined
  /** What was done; undefined: a former comment stays. */
  comment?: string | undefined
}

/** Marks an issue as done, and with it the message that it is. Writes lab_link_issue or lab_message. Errors: 404 no such issue. */
export async function finishIssue(db: Queries, id: string, { org_id, comment }: FinishOptions): Promise<Issue> {
  const find = () => db.maybe(IssueRow, sql`select ${issueColumns} from ${issueRows} where i.id = ${id} and ${ofOrg(org_id)}`)
  if (!(await find())) throw notFound('Issue not found')
  const count = await db.run(
    sql`
    update lab_link_issue set state = 'done', comment = coalesce(${comment ?? null}, comment), updated_at = ${dbNow} where id = ${id}`,
  )
  if (count === 0) await markDone(db, id, comment ?? null)
  return (await toIssues(db, [(await find())!]))[0]!
}

const DAY_S = 86_400

/** Deletes issues 400 days after they last occurred. Deletes from lab_link_issue. */
export const issueCleanup = cleanup({ table: 'lab_link_issue', column: 'created_at', retention_s: 400 * DAY_S })
