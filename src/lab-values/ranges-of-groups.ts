// Ranges of several groups of patients on one line, with the word for the group before or behind each: `M: 13-17 F: 12-16`, `13-17 (M) 12-16 (F)`.
import { isUnit } from './units.ts'

export interface RangeOfGroup {
  /** The word for the group and whatever else is next to the range. */
  label: string
  range: string
}

const NUMBER = String.raw`(?:\d+(?:[.,]\d+)*|\.\d+)`
const COMPARATOR = String.raw`(?:[<>]\s?=|=\s?[<>]|[<>≤≥＜＞]|\b(?:up ?to|less than|greater than|more than|under|over|below|above|at least|at most))`
/** An age is none: `>18 years`, `18-60 y`. */
const RANGE = String.raw`(?:(?:${COMPARATOR}\s?)?${NUMBER}\s?(?:[-–—−~]|to\b|\.\.)\s?(?:${COMPARATOR}\s?)?|${COMPARATOR}\s?)${NUMBER}(?!\d|[.,]\d|\s?(?:y|yrs?|years?|months?|mths?|weeks?|wks?|days?)\b)`
/** A letter is a sex where it stands for itself or right behind a number, but `M/uL` is a unit. */
const SEX = String.raw`(?<![\p{L}^])[MF](?![\p{L}\d²³^'’]|\/[a-zµμ]|\/UL)|(?<=[([])[mf](?=[)\]:,.\s])|(?<![^\s,;/|])[mf](?=\s?[:=])|[♂♀]`
const GROUP = String.raw`\b(?:males?|men|man|women|woman|females?|boys?|girls?|adults?|child(?:ren)?|infants?|new-?borns?|neonat\w*|pregnan\w*|follicular|luteal|ovulat\w+|mid-?cycle|(?:pre|post)-?menopaus\w*)\b`
const TOKEN = String.raw`(?<group>${SEX}|${caseless(GROUP)})|(?<![\d.,\p{L}^])(?<range>${caseless(RANGE)})`
const TOKENS = new RegExp(TOKEN, 'gu')
/** How a text begins that is nothing but ranges with their groups. Most texts do not, and looking for all tokens took 2 ms of a page. */
const BEGIN = new RegExp(String.raw`^[^\p{L}\d]*?(?:${TOKEN})`, 'u')

const IS_SEX = /^(?:[mf]|males?|men|man|women|woman|females?|boys?|girls?|[♂♀])$/iu

/** Letters of both cases: the flag `i` would take `m` for `M` as well. */
function caseless(pattern: string): string {
  return pattern.replaceAll(/\\[a-z]|\\p\{L\}|[a-z]/gu, (letter) =>
    letter.startsWith('\\') ? letter : `[${letter}${letter.toUpperCase()}]`,
  )
}

/** Empty unless each range of a text has words of its own for its group, all before or all behind it, and there are at least two. */
export function rangesOfGroups(text: string): RangeOfGroup[] {
  const tokens = tokensOf(text)
  // What stands before the first is about all: `Adults: 13-17 (M) 12-16 (F)`.
  if (tokens.length % 2 && tokens[0]!.isGroup && !IS_SEX.test(tokens[0]!.text)) tokens.shift()
  return tokens.length < 4 ? [] : pairTokens(text, tokens)
}

/** Whether a text is nothing but such ranges, or one of them: `12-16 (F)`. */
export function isRangesOfGroups(text: string): boolean {
  if (!BEGIN.test(text)) return false
  const pairs = pairTokens(text, tokensOf(text))
  return pairs.length > 0 && pairs.every(({ label }) => !/[\p{L}\d]/u.test(label.replaceAll(TOKENS, '')))
}

interface Token {
  isGroup: boolean
  text: string
  index: number
  end: number
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  for (const { index, groups, 0: whole } of text.matchAll(TOKENS)) {
    const isGroup = groups!['group'] !== undefined
    const last = tokens.at(-1)
    // `Adult male` is one group.
    if (isGroup && last?.isGroup) last.end = index + whole.length
    else tokens.push({ isGroup, text: whole, index, end: index + whole.length })
  }
  return tokens
}

/** Empty if groups and ranges do not alternate. */
function pairTokens(text: string, tokens: readonly Token[]): RangeOfGroup[] {
  if (tokens.length % 2 || tokens.some(({ isGroup }, index) => isGroup === tokens[index + 1]?.isGroup)) return []
  const common = text.slice(0, tokens[0]?.index)
  return tokens.flatMap((first, index) => {
    if (index % 2) return []
    const range = first.isGroup ? tokens[index + 1]! : first
    const behind = text.slice(range.end, tokens[index + 2]?.index ?? text.length)
    return [{ range: range.text, label: `${common} ${text.slice(first.index, range.index)} ${withoutUnit(behind)}`.trim() }]
  })
}

const UNIT_WORDS_MAX = 3

/** What stands behind a range without its unit. */
function withoutUnit(text: string): string {
  const words = text.trim().split(/\s+|(?=[([])/u)
  for (let count = Math.min(UNIT_WORDS_MAX, words.length); count > 0; count--)
    if (isUnit(words.slice(0, count).join(' ').replace(/[,;]$/u, ''))) return words.slice(count).join(' ')
  return text
}
