// Analyzes a query without running it: the columns of its result with their types, the resources it depends on, and every reason why it is
// invalid. Pure. Source: users-wearables.md 15.2, Q1-Q9; management-auth.md 15.
import type { Resource } from '../resources/resources.ts'
import {
  dependencies,
  fieldsOf,
  macros,
  sampleSources,
  sourceColumns,
  tables,
  type Columns,
  type Kind,
  type List,
  type Scalar,
  type TableName,
} from './columns.ts'
import type {
  Align,
  Func,
  GroupExpr,
  IndexExpr,
  Period,
  Query,
  SelectExpr,
  SourceExpr,
  SubqueryExpr,
  ValueExpr,
} from './query-language.ts'
import { validateConditions, parseWhere, WhereClauseError } from './where.ts'

/** JSON type of a result column: instants and dates are text in the user's local time. */
type ResultType = 'int64' | 'double' | 'string' | 'bool'

interface ColumnMeaning {
  result_table_schema: Record<string, ResultType>
  resource_dependencies: Resource[]
  /** Sentences; if there are any, the other fields are incomplete. */
  faults: string[]
}

const resultType: Record<Scalar, ResultType> = {
  int: 'int64',
  double: 'double',
  text: 'string',
  bool: 'bool',
  date: 'string',
  time: 'string',
}

interface Value {
  name: string
  kind: Kind
}
const isList = (kind: Kind): kind is List => typeof kind === 'object'

/** Any timeseries: the index of samples does not name one. */
const SAMPLES = 'timeseries'

const unitSeconds = { minute: 60, hour: 3600, day: 86_400, week: 604_800, month: 2_592_000, year: 31_536_000 }
const lengthOf = ({ value, unit }: Period): number => value * unitSeconds[unit]

/**
 * Analyzes a well-formed query.
 * @param isContinuous it must be grouped by exactly one truncated instant, and select all group keys
 */
export function analyzeQuery(query: Query, isContinuous = true): ColumnMeaning {
  const reading = new QueryAnalysis()
  const keys = (query.group_by ?? []).map((key, i) => reading.key(key, i))
  const columns = query.select.flatMap((item) => reading.analyzeSelected(item, keys))
  if (query.where != null) reading.where(query.where, (name) => reading.columnKind(name))
  reading.oneTable()
  reading.restrictions(query, isContinuous)
  const result_table_schema: Record<string, ResultType> = {}
  for (const { name, kind } of columns) {
    if (Object.hasOwn(result_table_schema, name)) reading.fault(`duplicate result column ${name}`)
    if (!isList(kind)) result_table_schema[name] = resultType[kind]
  }
  return { result_table_schema, resource_dependencies: reading.dependencies(), faults: [...reading.faults] }
}

/** Collects the columns that expressions read, and the errors. */
class QueryAnalysis {
  readonly faults = new Set<string>()
  /** `sleep`, `timeseries heartrate`; or `timeseries` without a name. */
  readonly #tables = new Set<string>()
  readonly #needed = new Set<Resource>()
  readonly #sources = new Set<string>()

  fault(text: string): void {
    this.faults.add(text)
  }

  #of(table: string, resources: readonly Resource[] = []): void {
    this.#tables.add(table)
    for (const resource of resources) this.#needed.add(resource)
  }

  value(expr: ValueExpr): Value {
    if ('value_macro' in expr) {
      const { kind, dependencies: needed } = macros[expr.value_macro]!
      this.#of('sleep', needed)
      return { name: expr.value_macro, kind }
    }
    if ('timeseries' in expr) {
      this.#of(`${SAMPLES} ${expr.timeseries}`, [expr.timeseries as Resource])
      return { name: expr.field, kind: fieldsOf(expr.timeseries)![expr.field]! }
    }
    const [table, name] = Object.entries(expr)[0] as [TableName, string]
    this.#of(table, dependencies[table])
    return { name, kind: (tables[table] as Columns)[name]! }
  }

  #index({ index }: IndexExpr): Value {
    if (index === SAMPLES) this.#of(SAMPLES)
    else this.#of(index, dependencies[index])
    const ofDays = index === 'activity' || index === 'derived_readiness' || index === 'menstrual_cycle'
    return { name: 'timestamp', kind: ofDays ? 'date' : 'time' }
  }

  #source({ source }: SourceExpr): Value {
    this.#sources.add(source)
    return { name: source, kind: sourceColumns[source]! }
  }

  /** A value computed from a list of each row. */
  #subquery({ select: { func, arg }, from, where }: SubqueryExpr): Value {
    const { name, kind } = this.value(from.unnest)
    if (!isList(kind)) {
      this.fault(`cannot unnest ${name}: it is not a list`)
      return { name, kind }
    }
    const elements: Columns = typeof kind.elements === 'string' ? { element: kind.elements } : kind.elements
    if (where != null) this.where(where, (column) => findScalar(elements, column))
    if (func === 'oldest' || func === 'newest') this.fault(`${func} cannot be applied to list elements`)
    if (arg == null) {
      if (func !== 'count') this.fault(`${func} of ${name} requires a field`)
      return { name: `${func}.${name}`, kind: 'int' }
    }
    const [list, field] = 'element' in arg ? [name, 'element'] : elementOf(arg)
    const found = list === name ? findScalar(elements, field) : undefined
    if (found === undefined) this.fault(`${list === name ? field : `${list}.${field}`} is not a field of ${name}`)
    return this.#applied(func, { name: `${name}.${field}`, kind: found ?? 'int' })
  }

  /** A function of many values. */
  #applied(func: Func, { name, kind }: Value): Value {
    const whole = `${func}.${name}`
    if (isList(kind)) {
      this.fault(`${name} is a list: use unnest`)
      return { name: whole, kind: 'int' }
    }
    if (func === 'count') return { name: whole, kind: 'int' }
    if (func === 'oldest' || func === 'newest') return { name: whole, kind }
    const isNumber = kind === 'int' || kind === 'double'
    const ordered = func === 'min' || func === 'max'
    if (!isNumber && !(ordered && kind !== 'bool')) this.fault(`${func} cannot be applied to ${name}: it is not a number`)
    return { name: whole, kind: ordered || (func === 'sum' && isNumber) ? kind : 'double' }
  }

  key(expr: GroupExpr, i: number): Value {
    const name = `group_key.${i}`
    if ('date_trunc' in expr) {
      this.#index(expr.arg)
      return { name, kind: 'time' }
    }
    if ('date_part' in expr) {
      this.#index(expr.arg)
      return { name, kind: 'int' }
    }
    const { name: column, kind } = 'source' in expr ? this.#source(expr) : this.value(expr)
    if (isList(kind)) this.fault(`cannot group by ${column}: it is a list`)
    return { name, kind }
  }

  analyzeSelected(expr: SelectExpr, keys: Value[]): Value[] {
    if ('group_key' in expr) {
      if (expr.group_key === '*') return keys
      const key = keys[expr.group_key]
      if (!key) this.fault(`group_by has no key ${expr.group_key}`)
      return key ? [key] : []
    }
    if ('func' in expr) {
      const { arg } = expr
      const value = 'index' in arg ? this.#index(arg) : 'select' in arg ? this.#subquery(arg) : this.value(arg)
      return [this.#applied(expr.func, value)]
    }
    const value =
      'index' in expr
        ? this.#index(expr)
        : 'source' in expr
          ? this.#source(expr)
          : 'select' in expr
            ? this.#subquery(expr)
            : this.value(expr)
    if (isList(value.kind)) this.fault(`cannot select ${value.name}: it is a list; aggregate its elements`)
    if (keys.length) this.fault(`${value.name} is neither a group key nor an aggregate`)
    return [value]
  }

  where(text: string, kindOf: (column: string) => Scalar | undefined): void {
    try {
      for (const fault of validateConditions(parseWhere(text), kindOf)) this.fault(fault)
    } catch (error) {
      if (!(error instanceof WhereClauseError)) throw error
      this.fault(error.message)
    }
  }

  /** Returns the type of a column that the query reads. */
  columnKind(name: string): Scalar | undefined {
    const [table = ''] = this.#sourceTables()
    if (table.startsWith(SAMPLES)) return findScalar(fieldsOf(table.slice(SAMPLES.length + 1)) ?? sourceColumns, name)
    const own: Columns | undefined = tables[table as TableName]
    return findScalar({ ...sourceColumns, ...own }, sampleSources.has(name) ? '' : name)
  }

  /** The tables; samples without a named timeseries belong to the one that is named. */
  #sourceTables(): string[] {
    const named = [...this.#tables]
    return named.some((table) => table.startsWith(`${SAMPLES} `)) ? named.filter((table) => table !== SAMPLES) : named
  }

  oneTable(): void {
    const named = this.#sourceTables()
    const [table, second] = named
    if (table === undefined) this.fault('the query does not reference a table')
    else if (second !== undefined) this.fault(`a query can read only one table, found ${named.join(', ')}`)
    else if (table === SAMPLES) this.fault('the query does not specify a timeseries')
    else if (!table.startsWith(SAMPLES))
      for (const name of this.#sources) if (sampleSources.has(name)) this.fault(`${name} is only available for timeseries`)
  }

  /** Checks the rules for every query, for a continuous one and for one with gap filling. */
  restrictions({ select, group_by = [], align }: Query, isContinuous: boolean): void {
    const truncated = group_by.flatMap((key) => ('date_trunc' in key ? [key.date_trunc] : []))
    const isAggregate = select.map((item) => 'func' in item)
    if (!group_by.length && isAggregate.includes(true) && isAggregate.includes(false))
      this.fault('a query without group_by selects either aggregates or columns, not both')
    if (truncated.length > 1 && !isContinuous) this.fault('a query can group by only one truncated datetime')
    const chosen = new Set(select.flatMap((item) => ('group_key' in item ? [item.group_key] : [])))
    const isMissing = !chosen.has('*') && group_by.some((_, i) => !chosen.has(i))
    if (isContinuous && truncated.length !== 1) this.fault('a continuous query must group by exactly one truncated datetime')
    if (isContinuous && isMissing) this.fault('a continuous query must select all of its group keys')
    if (!align) return
    if (!isContinuous && truncated.length !== 1) this.fault('align needs a group_by with one truncated datetime')
    if (!isContinuous && isMissing) this.fault('align needs all group keys to be selected')
    if (group_by.some((key) => 'date_part' in key)) this.fault('align cannot be combined with date_part')
    const cap = maxPeriod(align)
    const [bucket] = truncated
    if (cap && bucket && lengthOf(cap) < lengthOf(bucket)) this.fault('align must cover at least one bucket')
  }

  dependencies(): Resource[] {
    return [...this.#needed]
  }
}

const maxPeriod = ({ carry }: Align): Period | null | undefined => carry.max_age ?? carry.span

/** Returns the list and the field that an expression reads from its elements. */
const elementOf = (arg: Record<string, unknown>): [string, string] =>
  Object.entries(arg).find(([key]) => key !== 'field_for') as [string, string]

const findScalar = (columns: Columns, name: string): Scalar | undefined => {
  const kind = Object.hasOwn(columns, name) ? columns[name]! : undefined
  return kind === undefined || isList(kind) ? undefined : kind
}
