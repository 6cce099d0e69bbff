// Search over all domains: what an id, its beginning, a sample id or a word may mean within a team. Each part reads few rows of an index.
import { findKitBySample } from '../../lab/orders/orders.ts'
import { isForEndpoints } from '../../events/feed/list-events.ts'
import { messageId } from '../../events/catalog/message-id.ts'
import { notDeleted, notOfDeletedAlone, searchUsers } from '../../people/users/users.ts'
import { join, likeAnywhere, likeText, sql, type Sql } from '../../platform/db/sql.ts'
import type { Queries, Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { FOUND_MAX, Found } from './schema.ts'

/** Digits of an id that are enough to search for it: fewer begin the ids of every second. */
const DIGITS_MIN = 8

/** The ids that begin with the digits of a text; undefined if it is no beginning of an id. */
function idRange(text: string): { first: string; last: string } | undefined {
  const digits = text
    .replace(/^(msg|atmpt|ep)_/, '')
    .replaceAll('-', '')
    .toLowerCase()
  if (!/^[0-9a-f]{8,32}$/.test(digits) || digits.length < DIGITS_MIN) return undefined
  const fill = (digit: string) => digits.padEnd(32, digit).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { first: fill('0'), last: fill('f') }
}

/** What a team has whose id, sample id, client user id or name matches, at most ten of a kind. Objects of deleted users are left out. */
export async function search(tx: Tx, text: string): Promise<Found[]> {
  const range = idRange(text)
  const found = [
    ...(range ? await findById(tx, range) : []),
    ...(await findEndpoints(tx, text)),
    ...(await findRequests(tx, text)),
  ]
  // One after the other: a request holds one connection at a time.
  if (!range || text.length < 32) found.push(...(await findBySample(tx, text)), ...(await findByWords(tx, text)))
  for (const { kind, id, user_id } of found) tx.concerns(user_id, kind === 'order' ? id : undefined)
  return withoutDuplicates(found)
}

/** Each row once: an order is found by its id and by its sample id. */
const withoutDuplicates = (rows: Found[]): Found[] => [
  ...new Map(rows.map((row): [string, Found] => [`${row.kind} ${row.id}`, row])).values(),
]

const orderLabel = sql`o.patient_name as label, o.method || ' ' || o.low_level_status as detail`

function findById(tx: Tx, { first, last }: { first: string; last: string }): Promise<Found[]> {
  const isIn = (column: Sql) => sql`${column} >= ${first}::uuid and ${column} <= ${last}::uuid`
  const event = sql`
    select 'event', e.id::text, e.user_id, e.type, null::text from event e
    where e.team_id = ${tx.team} and ${isIn(sql`e.id`)} and ${isForEndpoints} and ${notDeleted(tx, sql`e.user_id`)}`
  const parts = [
    sql`
    select 'order', o.id::text, o.user_id, ${orderLabel} from lab_order o
    where o.team_id = ${tx.team} and ${isIn(sql`o.id`)} and ${notDeleted(tx, sql`o.user_id`)}`,
    sql`
    select distinct 'order_transaction', o.transaction_id::text, o.user_id, null::text, null::text from lab_order o
    where o.team_id = ${tx.team} and ${isIn(sql`o.transaction_id`)} and ${notDeleted(tx, sql`o.user_id`)}`,
    sql`
    select 'user', u.id::text, u.id, u.client_user_id, null::text from "user" u
    where u.team_id = ${tx.team} and ${isIn(sql`u.id`)} and u.deleted_at is null`,
    event,
    sql`
    select 'message', m.id::text, null::uuid, m.type, null::text from webhook_message m
    where m.team_id = ${tx.team} and ${isIn(sql`m.id`)}`,
    sql`
    select 'appointment', a.id::text, o.user_id, a.type, a.event_status from appointment a
    join lab_order o on o.id = a.order_id and o.team_id = a.team_id
    where a.team_id = ${tx.team} and ${isIn(sql`a.id`)} and ${notDeleted(tx, sql`o.user_id`)}`,
    sql`
    select 'lab_report_job', j.id::text, j.user_id, null::text, j.status from parsing_job j
    where j.team_id = ${tx.team} and ${isIn(sql`j.id`)} and ${notDeleted(tx, sql`j.user_id`)}`,
    sql`
    select 'unmatched_result', r.id::text, null::uuid, null::text, r.status from raw_result r
    where r.team_id = ${tx.team} and ${isIn(sql`r.id`)} and r.status <> 'matched' and r.visible_to_team
      and ${notOfDeletedAlone(tx, sql`r.candidate_user_ids`)}`,
    sql`
    select 'lab_test', t.id::text, null::uuid, t.name, t.status from lab_test t
    where t.team_id = ${tx.team} and ${isIn(sql`t.id`)}`,
    sql`
    select 'job', j.id::text, null::uuid, j.name, case when j.failed_at is not null then 'failed' else 'waiting' end from job j
    where j.team_id = ${tx.team} and ${isIn(sql`j.id`)}`,
  ].map((part) => sql`(${part} limit ${FOUND_MAX})`)
  return tx
    .many(
      Found,
      sql`
      select * from (${join(parts, ' union all ')}) as found (kind, id, user_id, label, detail)`,
    )
    .then((rows) => rows.map((row) => (row.kind === 'message' ? { ...row, id: messageId(row.id) } : row)))
}

/** Endpoints by their id, its beginning, or a part of their description. A team has few. */
const findEndpoints = (tx: Tx, text: string): Promise<Found[]> =>
  tx.many(
    Found,
    sql`
    select 'endpoint' as kind, id, null::uuid as user_id, description as label, case when disabled then 'disabled' end as detail from webhook
    where team_id = ${tx.team} and (id like ${`${likeText(text.toLowerCase())}%`} or description ilike ${likeAnywhere(text)})
    order by created_at desc, id limit ${FOUND_MAX}`,
  )

/** Requests by the id of their response. */
const findRequests = (tx: Tx, text: string): Promise<Found[]> =>
  tx.many(
    Found,
    sql`
    select 'request' as kind, request_id as id, null::uuid as user_id, operation as label, status::text as detail from request_log
    where team_id = ${tx.team} and request_id = ${text} order by id desc limit ${FOUND_MAX}`,
  )

/** Orders by the number of their sample, as it is stored or typed. */
async function findBySample(tx: Tx, text: string): Promise<Found[]> {
  const kit = await findKitBySample(tx, text)
  return tx.many(
    Found,
    sql`
    select 'order' as kind, o.id::text as id, o.user_id, ${orderLabel} from lab_order o
    where o.team_id = ${tx.team} and (o.sample_id = any (${[text, text.toUpperCase()]}) or o.id = ${kit ?? null}::uuid)
      and ${notDeleted(tx, sql`o.user_id`)}
    order by o.created_at desc, o.id limit ${FOUND_MAX}`,
  )
}

/** Users by a part of the team's reference, and the newest orders by a part of the name of the patient. */
async function findByWords(tx: Tx, text: string): Promise<Found[]> {
  const users = (await searchUsers(tx, text))
    .slice(0, FOUND_MAX)
    .map(({ user_id, client_user_id }): Found => ({ kind: 'user', id: user_id, user_id, label: client_user_id, detail: null }))
  // A trigram index needs three letters.
  if (!/[\p{L}\p{N}]{3}/u.test(text)) return users
  const orders = await tx.many(
    Found,
    sql`
    with found as materialized (
      select id, created_at from lab_order_of_team
      where team_id = ${tx.team} and patient_name ilike ${likeAnywhere(text)} and ${notDeleted(tx, sql`user_id`)})
    select 'order' as kind, o.id::text as id, o.user_id, ${orderLabel} from lab_order o
    where o.team_id = ${tx.team} and o.id = any (array(select id from found order by created_at desc, id desc limit ${FOUND_MAX}))
    order by o.created_at desc, o.id desc`,
  )
  return [...users, ...orders]
}

const Key = T.Object({ id: T.String() })

/** The key of a team in a cell, by its whole id. Keys are in the control plane. */
export async function findKey(
  control: Pick<Queries, 'many'>,
  { team, cell }: { team: string; cell: string },
  text: string,
): Promise<Found[]> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return []
  const rows = await control.many(Key, sql`select id from api_key where id = ${text} and team_id = ${team} and cell = ${cell}`)
  return rows.map(({ id }) => ({ kind: 'key', id, user_id: null, label: null, detail: null }))
}
