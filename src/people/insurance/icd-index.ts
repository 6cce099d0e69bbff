// Search index of diagnoses. All descriptions are in one string in memory. It finds "lipid" within "Hyperlipidemia", which word indexes do
// not, and frequent or short words several times faster than trigrams in the database (figures: docs/decisions/lists.md).
import { toDisplayCode } from './icd-codes.ts'
import type { Diagnosis } from './schema.ts'

const FOUND_MAX = 50
const WORDS_MAX = 10

export interface IcdIndex {
  /** Lines of code, description and secondary flag, separated by tabs, in the order of codes. */
  text: string
  /** The same in lower case, with the same length. */
  lower: string
  /** Start of each line, and the end of the last. */
  starts: Uint32Array
}

/** @param text one line for each code: code, description, and 1 if it is secondary, separated by tabs; sorted by code */
export function buildIcdIndex(text: string): IcdIndex {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  if (text) starts.push(text.length + 1)
  return { text, lower: toLowerCase(text), starts: Uint32Array.from(starts) }
}

/** Lower case, with every character at its original position. */
const toLowerCase = (text: string): string => {
  const lower = text.toLowerCase()
  return lower.length === text.length ? lower : text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

function lineAt({ starts }: IcdIndex, position: number): number {
  let [low, high] = [0, starts.length - 2]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (starts[middle]! <= position) low = middle
    else high = middle - 1
  }
  return low
}

/** Code and description, without the flag. */
const lineNumberAt = ({ lower, starts }: IcdIndex, line: number): string => lower.slice(starts[line], starts[line + 1]! - 3)

/** Returns diagnoses whose code begins with the query, in order, then diagnoses that contain every word of it, by rank: 50 at most. */
export function searchIndex(index: IcdIndex, query: string): Diagnosis[] {
  const words = query
    .toLowerCase()
    .trim()
    .split(/[\s,;]+/)
    .filter(Boolean)
    .slice(0, WORDS_MAX)
    .map(withoutDot)
  if (words.length === 0 || index.starts.length < 2) return []
  const lines = words.length === 1 ? linesOfCode(index, words[0]!) : []
  const known = new Set(lines)
  if (lines.length < FOUND_MAX && words.some((word) => word.length > 1))
    lines.push(...linesOfText(index, words).filter((line) => !known.has(line)))
  return lines.slice(0, FOUND_MAX).map((line) => diagnosisAt(index, line))
}

/** Codes may contain their dot. */
const withoutDot = (word: string): string => (/^[a-z][0-9][0-9a-z]\.[0-9a-z]*$/.test(word) ? word.replace('.', '') : word)

function linesOfCode(index: IcdIndex, beginning: string): number[] {
  const { lower, starts } = index
  const lines: number[] = []
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (lower.slice(starts[middle], starts[middle]! + beginning.length) < beginning) low = middle + 1
    else high = middle
  }
  for (let line = low; line < starts.length - 1 && lines.length < FOUND_MAX; line++) {
    if (!lower.startsWith(beginning, starts[line])) break
    lines.push(line)
  }
  return lines
}

function linesOfText(index: IcdIndex, words: string[]): number[] {
  const { lower, starts } = index
  const rarest = words.reduce((a, b) => (b.length > a.length ? b : a))
  const found: { line: number; rank: number; length: number }[] = []
  for (let at = lower.indexOf(rarest); at >= 0;) {
    const line = lineAt(index, at)
    const text = lineNumberAt(index, line)
    if (words.every((word) => text.includes(word))) found.push({ line, rank: rankMatch(text, words), length: text.length })
    at = lower.indexOf(rarest, starts[line + 1]!)
  }
  return found.sort((a, b) => b.rank - a.rank || a.length - b.length || a.line - b.line).map(({ line }) => line)
}

/** Whole words count more than prefixes of words, and prefixes more than other parts; a match at the start of the text counts extra. */
function rankMatch(text: string, words: string[]): number {
  const description = text.slice(text.indexOf('\t') + 1)
  let rank = description.startsWith(words[0]!) ? 1 : 0
  for (const word of words) {
    let best = 0
    for (let at = text.indexOf(word); at >= 0 && best < 4; at = text.indexOf(word, at + 1)) {
      const begins = at === 0 || !isLetter(text[at - 1]!)
      const ends = !isLetter(text[at + word.length] ?? ' ')
      best = Math.max(best, begins ? (ends ? 4 : 2) : 0)
    }
    rank += best
  }
  return rank
}

const isLetter = (character: string): boolean => /[\p{L}\p{N}]/u.test(character)

function diagnosisAt({ text, starts }: IcdIndex, line: number): Diagnosis {
  const [code, description, secondary] = text.slice(starts[line], starts[line + 1]! - 1).split('\t')
  return { diagnosis_code: toDisplayCode(code!), description: description!, is_secondary: secondary === '1' }
}
