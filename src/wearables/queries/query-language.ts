// Shapes of the query language: select, group by, where, gap filling. Generated from the tables of columns.ts. interpret.ts checks the
// meaning of a well-formed query. Source: users-wearables.md 15.2; openapi-management.json, Query.
import { RuleError } from '../../platform/schema/request-validation.ts'
import { Clearable, Fields, Int, Maybe, OpenEnum, T, Text, type TSchema } from '../../platform/schema/schema.ts'
import { macros, sampleGroups, sourceColumns, tableNames, tables, type TableName } from './columns.ts'

const functions = ['mean', 'min', 'max', 'sum', 'count', 'median', 'stddev', 'oldest', 'newest'] as const
export type Func = (typeof functions)[number]
const units = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const

export interface Period {
  value: number
  unit: (typeof units)[number]
}
/** A column of a table, `{ sleep: 'score' }`. */
type ColumnExpr = Partial<Record<TableName, string>>
interface MacroExpr {
  value_macro: string
}
interface SampleExpr {
  timeseries: string
  field: string
}
export type ValueExpr = ColumnExpr | MacroExpr | SampleExpr
export interface IndexExpr {
  index: TableName | 'timeseries'
}
export interface SourceExpr {
  source: string
}
/** A value of each row, computed from a list in it. */
export interface SubqueryExpr {
  select: { func: Func; arg?: Record<string, unknown> | null }
  from: { unnest: ValueExpr }
  where?: string | null
}
interface AggregateExpr {
  func: Func
  arg: ValueExpr | IndexExpr | SubqueryExpr
}
interface GroupKeyExpr {
  group_key: number | '*'
}
export type SelectExpr = AggregateExpr | GroupKeyExpr | ValueExpr | IndexExpr | SubqueryExpr | SourceExpr
interface TruncExpr {
  date_trunc: Period
  arg: IndexExpr
}
interface PartExpr {
  date_part: string
  arg: IndexExpr
}
export type GroupExpr = TruncExpr | PartExpr | ValueExpr | SourceExpr
export interface Align {
  carry: { mode: string; max_age?: Period | null; span?: Period | null }
}
export interface Query {
  select: SelectExpr[]
  group_by?: GroupExpr[]
  where?: string | null
  align?: Align | null
}

const SELECTED_MAX = 100
const KEYS_MAX = 20
const WHERE_MAX = 4000

const titleOf = (table: string): string =>
  `${table
    .split('_')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('')}ColumnExpr`

const columnExpressions = tableNames.map((table) =>
  Fields({ [table]: OpenEnum(Object.keys(tables[table])) }, { title: titleOf(table) }),
)
const macro = Fields(
  { value_macro: OpenEnum(Object.keys(macros)), version: Maybe(OpenEnum(['automatic'], { default: 'automatic' })) },
  { title: 'ValueMacroExpr' },
)
const samples = sampleGroups.map(({ title, resources, fields }) =>
  Fields({ timeseries: OpenEnum(resources), field: OpenEnum(Object.keys(fields)) }, { title }),
)
const values: TSchema[] = [...columnExpressions, macro, ...samples]

const index = Fields({ index: OpenEnum([...tableNames, 'timeseries']) }, { title: 'IndexColumnExpr' })
const source = Fields({ source: OpenEnum(Object.keys(sourceColumns)) }, { title: 'SourceColumnExpr' })
export const PeriodShape = Fields(
  { value: Maybe(Int({ minimum: 1, maximum: 10_000, default: 1 })), unit: OpenEnum(units) },
  { title: 'Period' },
)

const lists = Object.entries(tables.menstrual_cycle).flatMap(([name, kind]) =>
  typeof kind === 'object' ? [[name, Object.keys(kind.elements)] as const] : [],
)
const ofElements: TSchema[] = [
  ...lists.map(([name, fields]) =>
    Fields(
      { field_for: Maybe(OpenEnum(['menstrual_cycle'], { default: 'menstrual_cycle' })), [name]: OpenEnum(fields) },
      { additionalProperties: false },
    ),
  ),
  Fields(
    { element: T.Boolean() },
    {
      title: 'ElementFieldExpr',
      additionalProperties: false,
      finish: (value) => (value.element === true ? value : { field: 'element', refusal: new RuleError('can only be true') }),
    },
  ),
]

const Where = Clearable(
  Text({
    maxLength: WHERE_MAX,
    description: 'Comparisons (`> >= < <= = !=`) of columns with values, joined by `AND`, `OR`, `NOT` and parentheses.',
  }),
)

const subquery = Fields(
  {
    select: Fields({ func: OpenEnum(functions), arg: Clearable(T.Union(ofElements)) }, { title: 'AggregateFieldExpr' }),
    from: Fields({ unnest: T.Union(values) }, { title: 'UnnestExpr' }),
    where: Where,
  },
  { title: 'ScalarOutputSubqueryExpr' },
)
const aggregate = Fields({ func: OpenEnum(functions), arg: T.Union([...values, index, subquery]) }, { title: 'AggregateExpr' })
const groupKey = Fields(
  { group_key: T.Union([Int({ minimum: 0, maximum: KEYS_MAX }), OpenEnum(['*'])]) },
  { title: 'GroupKeyColumnExpr' },
)

const trunc = Fields({ date_trunc: PeriodShape, arg: index }, { title: 'DateTruncExpr' })
const part = Fields(
  { date_part: OpenEnum([...units, 'weekday', 'week_of_year', 'day_of_year']), arg: index },
  { title: 'DatePartExpr' },
)

const carry = (mode: string, cap: string) =>
  Fields({ mode: OpenEnum([mode]), [cap]: Clearable(PeriodShape) }, { additionalProperties: false })
const align = Fields(
  { carry: T.Union([carry('carry_forward', 'max_age'), carry('carry_backward', 'max_age'), carry('carry_nearest', 'span')]) },
  { title: 'AlignExpr', additionalProperties: false },
)

export const Query = T.Unsafe<Query>(
  Fields(
    {
      select: T.Array(T.Union([aggregate, groupKey, ...values, index, subquery, source]), {
        minItems: 1,
        maxItems: SELECTED_MAX,
      }),
      group_by: Maybe(T.Array(T.Union([trunc, part, ...values, source]), { maxItems: KEYS_MAX })),
      where: Where,
      align: Clearable(align),
    },
    { title: 'Query' },
  ),
)
