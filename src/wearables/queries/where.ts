// The `where` of a query: parsed into a tree and checked against the columns it names. Never passed on as text. Pure.
// Source: users-wearables.md 15.2, Q5.
import { parseTimestamp } from '../../platform/schema/formats.ts'
import type { Scalar } from './columns.ts'

export type Literal = string | number | boolean
type Operand = { column: string } | { literal: Literal }
type Operator = '>' | '>=' | '<' | '<=' | '=' | '!='
export type Condition =
  { and: Condition[] } | { or: Condition[] } | { not: Condition } | { left: Operand; operator: Operator; right: Operand }

/** Why a condition cannot be used, as a sentence. */
export class WhereClauseError extends Error {}

type Token = { offset: number } & (
  { kind: 'word' | 'sign' | 'text'; text: string } | { kind: 'number'; text: string } | { kind: 'end'; text: '' }
)

const TOKEN =
  /\s*(?:(?<word>[A-Za-z_][A-Za-z0-9_]*)|(?<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)|(?<text>'(?:[^']|'')*')|(?<sign>>=|<=|!=|[><=()]))/y
const DEPTH_MAX = 40

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  const end = text.trimEnd().length
  for (let at = 0; at < end; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at
    const groups = TOKEN.exec(text)?.groups
    if (!groups) throw new WhereClauseError(`where has a syntax error at character ${at + text.slice(at).search(/\S/) + 1}`)
    const [kind, found] = Object.entries(groups).find(([, value]) => value !== undefined) as [Token['kind'], string]
    tokens.push({
      offset: TOKEN.lastIndex - found.length,
      kind,
      text: kind === 'text' ? found.slice(1, -1).replaceAll("''", "'") : found,
    } as Token)
  }
  return [...tokens, { offset: end, kind: 'end', text: '' }]
}

/** Parses a condition. `NOT` has a higher precedence than `AND`, and `AND` than `OR`. @throws WhereClauseError */
export function parseWhere(text: string): Condition {
  const tokens = tokensOf(text)
  let next = 0
  let depth = 0
  const isWord = (word: string): boolean => tokens[next]!.kind === 'word' && tokens[next]!.text.toUpperCase() === word
  const isSign = (sign: string): boolean => tokens[next]!.kind === 'sign' && tokens[next]!.text === sign
  const fail = (message: string): never => {
    throw new WhereClauseError(`where needs ${message} at character ${tokens[next]!.offset + 1}`)
  }
  const parseNested = <R>(parse: () => R): R => {
    if (++depth > DEPTH_MAX) throw new WhereClauseError(`where is nested more than ${DEPTH_MAX} levels deep`)
    const result = parse()
    depth--
    return result
  }
  const parseJoined = (word: 'and' | 'or', part: () => Condition): Condition => {
    const parts = [part()]
    while (isWord(word.toUpperCase())) {
      next++
      parts.push(part())
    }
    return parts.length === 1 ? parts[0]! : word === 'and' ? { and: parts } : { or: parts }
  }
  const parseOr = (): Condition => parseJoined('or', () => parseJoined('and', parseTerm))
  const parseTerm = (): Condition => {
    if (isWord('NOT')) {
      next++
      return { not: parseNested(parseTerm) }
    }
    if (!isSign('(')) return comparison()
    next++
    const inner = parseNested(parseOr)
    if (!isSign(')')) fail('a closing parenthesis')
    next++
    return inner
  }
  const comparison = (): Condition => {
    const left = operand()
    const { kind, text: sign } = tokens[next]!
    if (kind !== 'sign' || sign === '(' || sign === ')') fail('a comparison')
    next++
    return { left, operator: sign as Operator, right: operand() }
  }
  const operand = (): Operand => {
    const { kind, text: found } = tokens[next]!
    if (kind === 'end' || kind === 'sign' || (kind === 'word' && /^(and|or|not)$/i.test(found))) fail('a column or a value')
    next++
    if (kind === 'text') return { literal: found }
    if (kind === 'number') return { literal: finite(Number(found)) }
    if (/^(true|false)$/i.test(found)) return { literal: found.toLowerCase() === 'true' }
    return { column: found }
  }
  const whole = parseOr()
  if (tokens[next]!.kind !== 'end') fail('AND, OR or its end')
  return whole
}

function finite(number: number): number {
  if (!Number.isFinite(number)) throw new WhereClauseError('where contains a number that is out of range')
  return number
}

type Comparable = 'number' | 'text' | 'bool' | 'moment'
const comparable: Record<Scalar, Comparable> = {
  int: 'number',
  double: 'number',
  text: 'text',
  bool: 'bool',
  date: 'moment',
  time: 'moment',
}
const literalType = (literal: Literal): Comparable =>
  typeof literal === 'number' ? 'number' : typeof literal === 'boolean' ? 'bool' : 'text'

const isComparable = (literal: Literal, comparable: Comparable): boolean =>
  comparable === 'moment'
    ? typeof literal === 'string' && parseTimestamp(literal) !== undefined
    : literalType(literal) === comparable

/**
 * Returns every reason why a condition is invalid for the rows of a table, as sentences.
 * @param kindOf type of a column; undefined if it does not exist
 */
export function validateConditions(condition: Condition, kindOf: (column: string) => Scalar | undefined): string[] {
  if ('and' in condition) return condition.and.flatMap((part) => validateConditions(part, kindOf))
  if ('or' in condition) return condition.or.flatMap((part) => validateConditions(part, kindOf))
  if ('not' in condition) return validateConditions(condition.not, kindOf)
  const { left, operator, right } = condition
  const names = [left, right].flatMap((side) => ('column' in side ? [side.column] : []))
  if (names.length === 0) return ['where must compare at least one column']
  const unknown = names.filter((name) => kindOf(name) === undefined)
  if (unknown.length) return unknown.map((name) => `where references unknown column ${name.slice(0, 60)}`)
  const kinds = names.map((name) => comparable[kindOf(name)!])
  if (names.length === 2) return kinds[0] === kinds[1] ? [] : [`where compares ${names.join(' with ')}: the types differ`]
  const literal = 'literal' in left ? left.literal : 'literal' in right ? right.literal : ''
  if (!isComparable(literal, kinds[0]!)) return [`where compares ${names[0]} with a value of another type`]
  if (kinds[0] === 'bool' && operator !== '=' && operator !== '!=') return [`where can compare ${names[0]} only with = and !=`]
  return []
}
