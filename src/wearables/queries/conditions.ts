// Conditions of queries as SQL: columns are looked up, values are bound, nothing of the text is passed on. Pure.
// Source: users-wearables.md 15.2, Q5. A comparison with null is never true, also below NOT, as in SQL.
import { join, raw, sql, type Sql } from '../../platform/db/sql.ts'
import { parseTimestamp } from '../../platform/schema/formats.ts'
import type { Kind } from './columns.ts'
import type { Condition, Literal } from './where.ts'

const operators = { '>': '>', '>=': '>=', '<': '<', '<=': '<=', '=': '=', '!=': '<>' } as const

export interface Named {
  value: Sql
  kind: Kind
}

/** A condition that was validated against the same columns. */
export function conditionSql(condition: Condition, column: (name: string) => Named): Sql {
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
export const wallTimeOf = (text: string): string => {
  const wall = `${text.slice(0, 10)}${text.slice(10).replace(/(z|[+-]\d\d(:?\d\d)?)$/i, '')}`
  return (parseTimestamp(wall) ?? parseTimestamp(text))!.at.toISOString().slice(0, 23)
}
