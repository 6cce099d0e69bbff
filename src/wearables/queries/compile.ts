// A query as one SQL statement with bound values. Rows are read once with the columns that the query needs (`item`), filtered (`kept`) and,
// if it is grouped, aggregated by group and source; of each group the best source stays (Q6). Pure. Source: users-wearables.md 15.2, Q1-Q9.
import { join, raw, sql, type Sql } from '../../platform/db/sql.ts'
import { sourceTypes } from '../resources/timeseries.ts'
import { FIRST_DAY, floatingText, intervalOf } from './buckets.ts'
import type { Columns, Kind, Scalar, TableName } from './columns.ts'
import type { Func, GroupExpr, IndexExpr, Query, SelectExpr, SubqueryExpr, ValueExpr } from './query-language.ts'
import { macroValue, sourceRows, type SourceRows } from './source-rows.ts'
import { elementField } from './summary-columns.ts'
import type { Owner, Span } from './timeframe.ts'
import { parseWhere, type Condition, type Literal } from './where.ts'
import { parseTimestamp } from '../../platform/schema/formats.ts'

/** Best first; others rank as `unknown`. Source: Q7. */
const typeOrder = [
  'lab',
  'automatic',
  'watch',
  'ring',
  'chest_strap',
  'scale',
  'cuff',
  'fingerprick',
  'manual_scan',
  'phone',
  'app',
  'multiple_sources',
  'unknown',
] as const satisfies (typeof sourceTypes)[number][]

export interface CompiledQuery {
  /** Selects `row`, a JSON list of lists that hold the values in the order of `columns`. */
  statement: Sql
  /** Names and types of the columns of a row. */
  columns: { name: string; kind: Scalar }[]
  /** Where the group keys are in a row, and which one is truncated; empty without groups. */
  keys: { position: number; isTruncated: boolean }[]
}

export interface CompileOptions extends Owner {
  span: Span
  /** Providers, best first. Others come after them. */
  providers: readonly string[]
  rows_max: number
  /** The newest buckets come first. */
  newestFirst?: boolean
}

/** What the rows of a query are of. */
export function tableOf(query: Query): TableName | { timeseries: string } {
  let found: TableName | undefined
  const look = (expr: unknown): string | undefined => {
    if (typeof expr !== 'object' || expr === null) return undefined
    if (Array.isArray(expr)) return expr.map(look).find((name) => name !== undefined)
    if ('timeseries' in expr) return expr.timeseries as string
    for (const [name, value] of Object.entries(expr)) {
      if (name === 'value_macro') found ??= 'sleep'
      else if (name === 'index') found ??= value as TableName
      else if (typeof value === 'string' && isTable(name)) found ??= name
      const inner = look(value)
      if (inner !== undefined) return inner
    }
    return undefined
  }
  const timeseries = look([query.select, query.group_by])
  return timeseries === undefined ? found! : { timeseries }
}

const isTable = (name: string): name is TableName =>
  ['sleep', 'derived_readiness', 'activity', 'workout', 'body', 'meal', 'menstrual_cycle', 'profile'].includes(name)

/** The priorities that concern the rows of a query. */
export const dataTypeOf = (query: Query): SourceRows['priorities'] =>
  sourceRows(tableOf(query), { team: '', user_id: '' }, { from_ms: 0, to_ms: 0 }).priorities

/** Compiles a query that was analyzed without a fault. */
export function compileQuery(query: Query, options: CompileOptions): CompiledQuery {
  return new Compilation(query, options).whole()
}

class Compilation {
  readonly #query: Query
  readonly #options: CompileOptions
  readonly #rows: SourceRows
  /** The expressions of `item`, by alias. */
  readonly #items: Sql[] = []
  readonly #known = new Map<string, Named>()

  constructor(query: Query, options: CompileOptions) {
    this.#query = query
    this.#options = options
    this.#rows = sourceRows(tableOf(query), options, options.span)
  }

  /** Has an expression computed for each row; the same `key` is computed once. */
  #named(key: string, make: () => Named): Named {
    const known = this.#known.get(key)
    if (known) return known
    const { value, kind } = make()
    const alias = raw(`c${this.#items.length}`)
    this.#items.push(sql`${value} as ${alias}`)
    const named = { value: alias, kind }
    this.#known.set(key, named)
    return named
  }

  #column(name: string): Named {
    return this.#named(`column ${name}`, () => this.#rows.column(name))
  }

  #value(expr: ValueExpr): Named & { name: string } {
    if ('value_macro' in expr) {
      const name = expr.value_macro
      return { name, ...this.#named(`macro ${name}`, () => macroValue(name, this.#options)) }
    }
    const name = 'timeseries' in expr ? expr.field : Object.values(expr)[0]!
    return { name, ...this.#column(name) }
  }

  #index({ index }: IndexExpr): Named & { name: string } {
    const isDay = index === 'activity' || index === 'derived_readiness' || index === 'menstrual_cycle'
    return { name: 'timestamp', value: raw('at'), kind: isDay ? 'date' : 'time' }
  }

  /** A value of each row that is computed of one of its lists. Source: Q9. */
  #subquery(expr: SubqueryExpr): Named & { name: string } {
    const { func, arg } = expr.select
    const list = this.#value(expr.from.unnest)
    const [, field] = arg == null ? [] : 'element' in arg ? [list.name, 'element'] : elementOf(arg)
    const name = arg == null ? `${func}.${list.name}` : `${func}.${list.name}.${field}`
    const named = this.#named(`subquery ${JSON.stringify(expr)}`, () => {
      const { elements: of } = (this.#rows.column(list.name).kind as { elements: Scalar | Columns })!
      const kindOf = (name: string): Kind => (typeof of === 'string' ? of : of[name]!)
      const element = (name: string): Named => ({
        value: elementField(kindOf(name) as Scalar, typeof of === 'string' ? 'element' : name),
        kind: kindOf(name),
      })
      const where = expr.where == null ? sql`true` : conditionSql(parseWhere(expr.where), element)
      const found = field === undefined ? undefined : element(field)
      const value = found ? aggregate(func, found, sql`null`) : sql`count(*)::float8`
      const source = this.#rows.column(list.name).value
      return {
        value: sql`(select ${value} from jsonb_array_elements(${source}) as e (value) where ${where})`,
        kind: found ? kindAfter(func, found.kind) : 'int',
      }
    })
    return { name, ...named }
  }

  #key(expr: GroupExpr): Named & { isTruncated: boolean } {
    if ('date_trunc' in expr) return { value: truncatedBucket(expr), kind: 'time', isTruncated: true }
    if ('date_part' in expr)
      return { value: sql`extract(${raw(parts[expr.date_part]!)} from at)::float8`, kind: 'int', isTruncated: false }
    return { ...('source' in expr ? this.#column(expr.source) : this.#value(expr)), isTruncated: false }
  }

  #selected(expr: Exclude<SelectExpr, { group_key: unknown }>): Named & { name: string } {
    if ('index' in expr) return this.#index(expr)
    if ('source' in expr) return { name: expr.source, ...this.#column(expr.source) }
    if ('func' in expr) {
      const { func, arg } = expr
      const value = 'index' in arg ? this.#index(arg) : 'select' in arg ? this.#subquery(arg) : this.#value(arg)
      return { name: `${func}.${value.name}`, value: aggregate(func, value, raw('instant')), kind: kindAfter(func, value.kind) }
    }
    return 'select' in expr ? this.#subquery(expr) : this.#value(expr)
  }

  /** Whether of each group only the best source stays. Source: Q6. */
  #isPrioritized(): boolean {
    const names = (this.#query.group_by ?? []).map((key) =>
      'source' in key
        ? key.source
        : 'date_trunc' in key || 'date_part' in key
          ? ''
          : 'field' in key
            ? key.field
            : Object.values(key)[0],
    )
    return names.length > 0 && !(names.includes('source_provider') && names.includes('source_type'))
  }

  whole(): CompiledQuery {
    const { select, group_by = [], where } = this.#query
    const keys = group_by.map((key) => this.#key(key))
    const out: { name: string; value: Sql; kind: Scalar; key?: number }[] = []
    const aggregates: Sql[] = []
    const isGrouped = keys.length > 0
    for (const item of select) {
      if ('group_key' in item) {
        for (const n of item.group_key === '*' ? keys.keys() : [item.group_key])
          out.push({ name: `group_key.${n}`, value: raw(`k${n}`), kind: keys[n]!.kind as Scalar, key: n })
        continue
      }
      const { name, value, kind } = this.#selected(item)
      if (!isGrouped) out.push({ name, value, kind: kind as Scalar })
      else {
        out.push({ name, value: raw(`a${aggregates.length}`), kind: kind as Scalar })
        aggregates.push(sql`${value} as ${raw(`a${aggregates.length}`)}`)
      }
    }
    const filter = where == null ? sql`true` : conditionSql(parseWhere(where), (name) => this.#column(name))
    const row = rowOf(out.map(toShownValue))
    const limit = sql`limit ${this.#options.rows_max + 1}`
    const statement = isGrouped
      ? sql`${this.#kept(filter, keys)}, ${this.#groups(keys, aggregates)}
        select ${row} from best order by ${join(this.#order(keys))} ${limit}`
      : select.some((item) => 'func' in item)
        ? sql`${this.#kept(filter, [])} select ${row} from kept`
        : sql`${this.#kept(filter, [])} select ${row} from kept order by instant, provider, source_type ${limit}`
    return {
      statement,
      columns: out.map(({ name, kind }) => ({ name, kind })),
      keys: keys.map(({ isTruncated }, n) => ({ position: out.findIndex(({ key }) => key === n), isTruncated })),
    }
  }

  #order(keys: readonly { isTruncated: boolean }[]): Sql[] {
    const names = keys.map((_, i) => raw(`k${i}`))
    const bucket = keys.findIndex(({ isTruncated }) => isTruncated)
    return this.#options.newestFirst ? [raw(`k${bucket} desc`), ...names] : names
  }

  /** The rows that the query reads, with their group keys. */
  #kept(filter: Sql, keys: Named[]): Sql {
    const { from, condition, at, instant, provider, source_type } = this.#rows
    const { from_ms, to_ms } = this.#options.span
    const isOrdered = !keys.length || this.#query.select.some((item) => 'func' in item && /^(oldest|newest)$/.test(item.func))
    const names = keys.map(({ value }, i) => sql`, ${value} as ${raw(`k${i}`)}`)
    return sql`
      with item as (
        select ${at} as at, ${isOrdered ? instant : sql`null`} as instant, ${provider} as provider, ${source_type} as source_type
          ${join([sql``, ...this.#items], ', ')}
        from ${from} where ${condition}
        -- Keeps the database from computing an expression again wherever its name is used.
        offset 0
      ), kept as (
        select *${join([sql``, ...names], '')} from item
        where at >= ${floatingText(from_ms)}::timestamp and at < ${floatingText(to_ms)}::timestamp and ${filter}
      )`
  }

  #groups(keys: Named[], aggregates: Sql[]): Sql {
    const by = join(keys.map((_, i) => raw(`k${i}`)))
    const values = join([sql``, ...aggregates], ', ')
    if (!this.#isPrioritized()) return sql`best as (select ${by}${values} from kept group by ${by})`
    const typeRank = sql`coalesce(array_position(${[...typeOrder]}::text[], source_type), ${typeOrder.length}::int)`
    const providerRank = sql`coalesce(array_position(${[...this.#options.providers]}::text[], provider), 2147483647)`
    return sql`
      of_source as (select ${by}, provider, source_type${values} from kept group by ${by}, provider, source_type),
      best as (
        select distinct on (${by}) * from of_source
        order by ${by}, ${typeRank}, ${providerRank}, source_type collate "C", provider collate "C")`
  }
}

/** A function takes 100 values. */
const VALUES_MAX = 100

function rowOf(values: Sql[]): Sql {
  const parts: Sql[] = []
  for (let at = 0; at < values.length; at += VALUES_MAX)
    parts.push(sql`json_build_array(${join(values.slice(at, at + VALUES_MAX))})`)
  return sql`json_build_array(${join(parts)})::text as row`
}

const elementOf = (arg: Record<string, unknown>): [string, string] =>
  Object.entries(arg).find(([key]) => key !== 'field_for') as [string, string]

/** The beginning of the bucket of `at`; `truncate` does the same without a database. */
function truncatedBucket({ date_trunc }: Extract<GroupExpr, { date_trunc: unknown }>): Sql {
  const { months, seconds } = intervalOf(date_trunc)
  if (!months) return sql`date_bin(make_interval(secs => ${seconds}), at, ${FIRST_DAY}::timestamp)`
  const ofAll = sql`((extract(year from at)::int - 1) * 12 + extract(month from at)::int - 1)`
  return sql`(${FIRST_DAY}::timestamp + make_interval(months => ${ofAll} - ${ofAll} % ${months}::int))`
}

/** Weekdays from 1, Monday, to 7; weeks are those of ISO 8601. */
const parts: Record<string, string> = {
  minute: 'minute',
  hour: 'hour',
  day: 'day',
  week: 'week',
  month: 'month',
  year: 'year',
  weekday: 'isodow',
  week_of_year: 'week',
  day_of_year: 'doy',
}

const kindAfter = (func: Func, kind: Kind): Kind => {
  if (func === 'count') return 'int'
  return func === 'mean' || func === 'median' || func === 'stddev' ? 'double' : kind
}

const sqlTypes: Record<Scalar, string> = {
  int: 'float8',
  double: 'float8',
  text: 'text',
  bool: 'boolean',
  date: 'date',
  time: 'timestamp',
}

/** A function of all values that are not null. Each needs little memory but `median`, which the database sorts on disk. */
function aggregate(func: Func, { value, kind }: Named, instant: Sql): Sql {
  switch (func) {
    case 'mean':
      return sql`avg(${value})`
    case 'median':
      return sql`percentile_cont(0.5) within group (order by ${value})`
    case 'stddev':
      return sql`stddev_samp(${value})`
    case 'count':
      return sql`count(${value})::float8`
    case 'min':
    case 'max':
    case 'sum':
      return sql`${raw(func)}(${value})`
    case 'oldest':
    case 'newest':
      return ofInstant(func === 'oldest' ? raw('min') : raw('max'), value, kind as Scalar, instant)
  }
}

/** The value of the first or last instant; of several at one instant the smallest or largest. */
function ofInstant(pick: Sql, value: Sql, kind: Scalar, instant: Sql): Sql {
  const present = sql`filter (where ${value} is not null)`
  if (kind === 'int' || kind === 'double')
    return sql`(${pick}(array[extract(epoch from ${instant})::float8, ${value}]) ${present})[2]`
  const text = sql`to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')`
  return sql`(${pick}(array[${text} collate "C", ${value}::text collate "C"]) ${present})[2]::${raw(sqlTypes[kind])}`
}

/** A value as results show it: days and wall times as text without an offset. */
function toShownValue({ value, kind }: { value: Sql; kind: Scalar }): Sql {
  if (kind === 'date') return sql`to_char(${value}, 'YYYY-MM-DD')`
  return kind === 'time' ? sql`to_char(${value}, 'YYYY-MM-DD"T"HH24:MI:SS')` : value
}

// Conditions of queries as SQL: columns are looked up, values are bound, nothing of the text is passed on. Pure.
// Source: users-wearables.md 15.2, Q5. A comparison with null is never true, also below NOT, as in SQL.

const operators = { '>': '>', '>=': '>=', '<': '<', '<=': '<=', '=': '=', '!=': '<>' } as const

interface Named {
  value: Sql
  kind: Kind
}

/** A condition that was validated against the same columns. */
function conditionSql(condition: Condition, column: (name: string) => Named): Sql {
  if ('and' in condition)
    return sql`(${join(
      condition.and.map((part) => conditionSql(part, column)),
      ' and ',
    )})`
  if ('or' in condition)
    return sql`(${join(
      condition.or.map((part) => conditionSql(part, column)),
      ' or ',
    )})`
  if ('not' in condition) return sql`(not ${conditionSql(condition.not, column)})`
  const side = (operand: { column: string } | { literal: Literal }): Sql => {
    if ('literal' in operand) return literalSql(operand.literal, isOfMoments(condition, column))
    const { value, kind } = column(operand.column)
    return kind === 'date' || kind === 'time' ? sql`${value}::timestamp` : value
  }
  return sql`(${side(condition.left)} ${raw(operators[condition.operator])} ${side(condition.right)})`
}

type Comparison = Extract<Condition, { operator: unknown }>

const isOfMoments = ({ left, right }: Comparison, column: (name: string) => Named): boolean =>
  [left, right].some((side) => 'column' in side && ['date', 'time'].includes(column(side.column).kind as string))

function literalSql(literal: Literal, isMoment: boolean): Sql {
  if (isMoment) return sql`${wallTimeOf(String(literal))}::timestamp`
  if (typeof literal === 'number') return sql`${literal}::float8`
  return typeof literal === 'boolean' ? sql`${literal}::boolean` : sql`${literal}::text`
}

/** The wall time that a text names: queries are in floating time, so that its offset does not count. */
const wallTimeOf = (text: string): string => {
  const wall = `${text.slice(0, 10)}${text.slice(10).replace(/(z|[+-]\d\d(:?\d\d)?)$/i, '')}`
  return (parseTimestamp(wall) ?? parseTimestamp(text))!.instant.toISOString().slice(0, 23)
}
