// Runs queries over the data of one user. Source: users-wearables.md 15.1. Unsourced: the limits.
import { getUser } from '../../people/users/users.ts'
import { badRequest } from '../../platform/http/errors.ts'
import type { MultiTransactionContext } from '../../platform/http/operation.ts'
import { runLongWork } from '../../platform/runtime/long-work.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { alignRows, periodOf, TooManyRows, type Row, type Value } from './align.ts'
import { compileQuery, dataTypeOf, tableOf, type CompiledQuery } from './compile.ts'
import { analyzeQuery } from './interpret.ts'
import type { Query } from './query-language.ts'
import { SlotWaiters, takeSlot } from './query-slots.ts'
import type { QueryBatch } from './schema.ts'
import { chunksDuring, type SourceRows } from './source-rows.ts'
import { getPriorities } from '../../tenancy/teams/own-team.ts'
import { spanOf, type Span } from './timeframe.ts'

/** Rows of one result. */
const ROWS_MAX = 10_000
/** Values of one result: rows times columns. */
const VALUES_MAX = 200_000
/** Values of all results of a request. */
const REQUEST_VALUES_MAX = 400_000
/** Samples that one query reads. */
const SAMPLES_MAX = 5_000_000
/** All queries of a request together. */
const TIMEOUT_MS = 20_000

/** Columns by name, each with the values of all rows. */
export type Table = Record<string, Value[]>

export const rowsMax = (columns: number): number => Math.min(ROWS_MAX, Math.floor(VALUES_MAX / Math.max(1, columns)))

const ResultRow = T.Object({ row: T.String() })
const Count = T.Object({ n: T.Integer() })
const Nothing = T.Object({})

const overBudget = () =>
  badRequest(`The results have more than ${REQUEST_VALUES_MAX} values: use fewer queries, a shorter timeframe or larger groups`)

const tooMany = (max: number) => badRequest(`The result has more than ${max} rows: use a shorter timeframe or larger groups`)

/** PostgreSQL's class of errors about values. */
const isOfValues = (error: unknown): boolean => (error as { code?: string }).code?.startsWith('22') === true
const isTimeout = (error: unknown): boolean => (error as { code?: string }).code === '57014'

/** Limits the statements that follow in the transaction. */
export const limitTime = async (tx: Tx, timeout_ms: number): Promise<void> =>
  void (await tx.locking.one(
    Nothing,
    sql`select from (select set_config('statement_timeout', ${String(Math.max(1, Math.floor(timeout_ms)))}, true)) s`,
  ))

export interface Given {
  user_id: string
  span: Span
  providers: readonly string[]
  rows_max: number
  /** If there are too many rows, the newest are returned. */
  newestFirst?: boolean
}

/**
 * Runs one query that was analyzed without a fault.
 * Errors: 400 more samples or more rows than one query may have, a value that is too large, or more time than the transaction allows.
 * @returns its rows, at most one more than `rows_max`
 */
export async function queryRows(tx: Tx, query: Query, { user_id, span, providers, rows_max, newestFirst = false }: Given) {
  const owner = { team: tx.team, user_id }
  const table = tableOf(query)
  if (typeof table === 'object') {
    const chunks = chunksDuring(table.timeseries, owner, span)
    const { n } = await withQueryErrors(tx.one(Count, sql`select coalesce(sum(c.samples), 0)::bigint as n from ${chunks}`))
    if (n > SAMPLES_MAX) throw badRequest(`The query reads more than ${SAMPLES_MAX} samples: use a shorter timeframe`)
  }
  const compiled = compileQuery(query, { ...owner, span, providers, rows_max, newestFirst })
  return { compiled, rows: await readRows(tx, compiled.statement) }
}

const readRows = async (tx: Tx, statement: Sql): Promise<Row[]> =>
  (await withQueryErrors(tx.many(ResultRow, statement))).map(({ row }) => (JSON.parse(row) as Row[]).flat())

/** Errors: 400 instead of those of the database that the data causes. */
async function withQueryErrors<R>(query: Promise<R>): Promise<R> {
  try {
    return await query
  } catch (error) {
    if (isTimeout(error)) throw badRequest('The query takes too long: use a shorter timeframe')
    if (isOfValues(error)) throw badRequest('The query computes a value that is out of range')
    throw error
  }
}

/** Fills the gaps of a result if the query asks for it. @throws TooManyRows */
export function alignResult(query: Query, { keys }: CompiledQuery, rows: Row[], now_ms: number, rows_max: number): Row[] {
  const period = periodOf(query.group_by ?? [])
  if (!query.align || !period) return rows
  const bucket = keys.find(({ isTruncated }) => isTruncated)!.position
  const others = keys.filter(({ isTruncated }) => !isTruncated).map(({ position }) => position)
  return alignRows(rows, { align: query.align, period, bucket, otherKeys: others, now_ms, rows_max })
}

export const columnwise = (columns: CompiledQuery['columns'], rows: readonly Row[]): Table =>
  Object.fromEntries(columns.map(({ name }, i) => [name, rows.map((row) => row[i]!)]))

const waiters = new SlotWaiters()

/**
 * Runs queries over the data of a user, one after the other, in a transaction. While another request of the team is running it waits up to
 * two seconds.
 * Errors: 400 a query that cannot be used, with all reasons, or that exceeds a limit, also all of them together; 404 unknown user;
 * 429 another request of the team is still running, or ten more of it are waiting; 503 a long post or a batch of an import of the team takes
 * longer than 30 seconds.
 */
export const runQueries = (
  { tenant, cells }: Pick<MultiTransactionContext, 'tenant' | 'cells'>,
  user_id: string,
  batch: QueryBatch,
): Promise<Table[]> =>
  waiters.run(tenant.team, () =>
    runLongWork(tenant.team, () => cells.db(tenant.cell).tx(tenant, (tx) => readTables(tx, user_id, batch))),
  )

/** The results of queries. Errors: those of `runQueries`. @returns undefined while no slot of the team is free */
async function readTables(tx: Tx, user_id: string, { timeframe, queries, config }: QueryBatch): Promise<Table[] | undefined> {
  const faults = queries.flatMap((query, i) => analyzeQuery(query, false).faults.map((fault) => `queries ${i}: ${fault}`))
  if (faults.length) throw badRequest(`The queries are invalid: ${faults.join('; ')}`)
  await getUser(tx, user_id)
  if (!(await takeSlot(tx))) return undefined
  const span = spanOf(timeframe)
  // The limit of a statement: each query has an equal part of the time of the request.
  await limitTime(tx, TIMEOUT_MS / Math.max(1, queries.length))
  const tables: Table[] = []
  let values_left = REQUEST_VALUES_MAX
  for (const query of queries) {
    const providers = await preferredProviders(tx, dataTypeOf(query), config?.provider_priority_overrides)
    const columns = columnsOf(query)
    const ofQuery = rowsMax(columns)
    const rows_max = Math.min(ofQuery, Math.floor(values_left / Math.max(1, columns)))
    const tooLarge = () => (rows_max < ofQuery ? overBudget() : tooMany(rows_max))
    const { compiled, rows } = await queryRows(tx, query, { user_id, span, providers, rows_max })
    if (rows.length > rows_max) throw tooLarge()
    try {
      const shown = alignResult(query, compiled, rows, tx.now.getTime(), rows_max)
      values_left -= shown.length * columns
      tables.push(columnwise(compiled.columns, shown))
    } catch (error) {
      throw error instanceof TooManyRows ? tooLarge() : error
    }
  }
  return tables
}

export const columnsOf = (query: Query): number => Object.keys(analyzeQuery(query, false).result_table_schema).length

// Which provider's data a query prefers. Source: users-wearables.md 14, Q6, Q7.

/** The fields in which an item of the list may name its source: the list is kept as it was given. */
const SLUGS = ['source_slug', 'provider', 'slug', 'source', 'id'] as const

/** Providers by a team's priorities, best first. Items without a name or a number are left out. */
function rankedProviders(list: readonly Record<string, unknown>[]): string[] {
  const ranks = new Map<string, number>()
  for (const item of list) {
    const slug = SLUGS.map((field) => item[field]).find((value): value is string => typeof value === 'string')
    const { priority } = item
    if (slug === undefined || typeof priority !== 'number' || !Number.isFinite(priority)) continue
    ranks.set(slug.toLowerCase(), Math.max(priority, ranks.get(slug.toLowerCase()) ?? -Infinity))
  }
  return [...ranks].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([slug]) => slug)
}

/** The providers that a query prefers, best first: those of the query, then those of the team. */
export async function preferredProviders(
  tx: Tx,
  dataType: SourceRows['priorities'],
  overrides: readonly string[] | null | undefined,
): Promise<string[]> {
  const ofTeam = dataType === null ? [] : rankedProviders(await getPriorities(tx, dataType))
  return [...new Set([...(overrides ?? []), ...ofTeam])]
}
