// The `where` of a query: read into a tree, and held to the columns it names. Never passed on as text. Pure.
// Source: users-wearables.md 15.2, Q5.
import { parseMoment } from '../../platform/schema/formats.ts'
import type { Scalar } from './columns.ts'

export type Literal = string | number | boolean
type Operand = { column: string } | { literal: Literal }
type Operator = '>' | '>=' | '<' | '<=' | '=' | '!='
export type Condition =
  { and: Condition[] } | { or: Condition[] } | { not: Condition } | { left: Operand; operator: Operator; right: Operand }

/** Why a condition cannot be used, as a sentence. */
export class WhereFault extends Error {}

type Token = { at: number } & (
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
    if (!groups) throw new WhereFault(`where cannot be read from character ${at + text.slice(at).search(/\S/) + 1} on`)
    const [kind, found] = Object.entries(groups).find(([, value]) => value !== undefined) as [Token['kind'], string]
    tokens.push({
      at: TOKEN.lastIndex - found.length,
      kind,
      text: kind === 'text' ? found.slice(1, -1).replaceAll("''", "'") : found,
    } as Token)
  }
  return [...tokens, { at: end, kind: 'end', text: '' }]
}

/** Read a condition. `NOT` binds closer than `AND`, and that closer than `OR`. @throws WhereFault */
export function parseWhere(text: string): Condition {
  const tokens = tokensOf(text)
  let next = 0
  let depth = 0
  const isWord = (word: string): boolean => tokens[next]!.kind === 'word' && tokens[next]!.text.toUpperCase() === word
  const isSign = (sign: string): boolean => tokens[next]!.kind === 'sign' && tokens[next]!.text === sign
  const fail = (what: string): never => {
    throw new WhereFault(`where needs ${what} at character ${tokens[next]!.at + 1}`)
  }
  const deeper = <R>(work: () => R): R => {
    if (++depth > DEPTH_MAX) throw new WhereFault(`where has more than ${DEPTH_MAX} levels`)
    const result = work()
    depth--
    return result
  }
  const joined = (word: 'and' | 'or', part: () => Condition): Condition => {
    const parts = [part()]
    while (isWord(word.toUpperCase())) {
      next++
      parts.push(part())
    }
    return parts.length === 1 ? parts[0]! : word === 'and' ? { and: parts } : { or: parts }
  }
  const either = (): Condition => joined('or', () => joined('and', single))
  const single = (): Condition => {
    if (isWord('NOT')) {
      next++
      return { not: deeper(single) }
    }
    if (!isSign('(')) return comparison()
    next++
    const inner = deeper(either)
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
  const whole = either()
  if (tokens[next]!.kind !== 'end') fail('AND, OR or its end')
  return whole
}

function finite(number: number): number {
  if (!Number.isFinite(number)) throw new WhereFault('where has a number that is too large')
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
const ofLiteral = (literal: Literal): Comparable =>
  typeof literal === 'number' ? 'number' : typeof literal === 'boolean' ? 'bool' : 'text'

const fits = (literal: Literal, wanted: Comparable): boolean =>
  wanted === 'moment' ? typeof literal === 'string' && parseMoment(literal) !== undefined : ofLiteral(literal) === wanted

/**
 * Every reason why a condition makes no sense of rows like these, as sentences.
 * @param kindOf what a column holds; undefined when there is none of that name
 */
export function faultsOf(condition: Condition, kindOf: (column: string) => Scalar | undefined): string[] {
  if ('and' in condition) return condition.and.flatMap((part) => faultsOf(part, kindOf))
  if ('or' in condition) return condition.or.flatMap((part) => faultsOf(part, kindOf))
  if ('not' in condition) return faultsOf(condition.not, kindOf)
  const { left, operator, right } = condition
  const names = [left, right].flatMap((side) => ('column' in side ? [side.column] : []))
  if (names.length === 0) return ['where compares two values, and no column']
  const unknown = names.filter((name) => kindOf(name) === undefined)
  if (unknown.length) return unknown.map((name) => `where names ${name.slice(0, 60)}, which is no column of this query's table`)
  const kinds = names.map((name) => comparable[kindOf(name)!])
  if (names.length === 2) return kinds[0] === kinds[1] ? [] : [`where compares ${names.join(' with ')}, which is of another kind`]
  const literal = 'literal' in left ? left.literal : 'literal' in right ? right.literal : ''
  if (!fits(literal, kinds[0]!)) return [`where compares ${names[0]} with a value of another kind`]
  if (kinds[0] === 'bool' && operator !== '=' && operator !== '!=') return [`where can compare ${names[0]} with = and != only`]
  return []
}
