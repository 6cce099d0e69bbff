// Numbers whose groups of digits are parted by spaces, each group a word of its own: `1 234`, `250 000`.
import { isUnit } from '../../lab-values/units.ts'
import { flagOf, intervalOf, numberOf } from '../../lab-values/values.ts'
import type { Word } from '../pages/page.ts'

type Texts = readonly Pick<Word, 'text'>[]

const FIRST = /^[<>≤≥]?=?[+-]?[1-9]\d{0,2}$/u
const GROUP = /^\d{3}(?:[.,]\d+)?$/u

const textAt = (words: Texts, start: number, count: number): string =>
  words
    .slice(start, start + count)
    .map(({ text }) => text)
    .join(' ')

/**
 * How many words make the number that begins with one of them. A result and a bound behind it are two numbers (`140 135 - 145`), and so are a
 * result and a former one: groups are those with a zero in front, and those that a unit or a flag follows.
 */
export function wordsOfNumber(words: Texts, start: number): number {
  if (!FIRST.test(words[start]?.text ?? '')) return 1
  let end = start + 1
  while (end < words.length && GROUP.test(words[end]!.text)) end++
  const count = end - start
  if (count < 2 || numberOf(textAt(words, start, count).replace(/^[<>≤≥]?=?/u, '')) === undefined) return 1
  const groups = words.slice(start + 1, end)
  const withZero = groups.findLastIndex(({ text }) => text.startsWith('0')) + 1
  const next = words[end]
  const isMeasured = next !== undefined && (isUnitAt(words, end) || flagOf(next.text) !== undefined) && !/^[-–—]/u.test(next.text)
  return isMeasured ? count : withZero + 1
}

const UNIT_WORDS_MAX = 3

const isUnitAt = (words: Texts, index: number): boolean =>
  Array.from({ length: UNIT_WORDS_MAX }, (_, count) => textAt(words, index, count + 1)).some(isUnit)

/** How many words make the number at the end of a text; 0 if it ends in none. */
export function wordsOfLastNumber(words: Texts): number {
  const isNumber = (count: number) => numberOf(textAt(words, words.length - count, count)) !== undefined
  const most = words.length - 1 - words.findLastIndex(({ text }) => !/^\d[\d.,]*$/u.test(text))
  for (let count = most; count > 1; count--) if (isNumber(count)) return count
  return words.length > 0 && isNumber(1) ? 1 : 0
}

/** Whether words within a text can be one value: groups of digits are those that this module reads as one number. */
export function isOneValue(words: Texts, start: number, count: number): boolean {
  const text = textAt(words, start, count)
  // `5.2 x 10^9 /L`: the power belongs to the unit.
  if (/\s[x×]\s?10/u.test(text) && words[start + count]?.text.startsWith('/')) return false
  if (!/\d \d{3}(?!\d)/u.test(text)) return true
  if (intervalOf(text)) return true
  const first = words.findIndex((word, index) => index >= start && /\d/u.test(word.text))
  return wordsOfNumber(words, first) === start + count - first
}
