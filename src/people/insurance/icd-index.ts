// Search of diagnoses in memory. It finds "lipid" within "Hyperlipidemia", which word indexes do not, and frequent or short words several
// times faster than trigrams in the database (figures: docs/decisions/lists.md).
import { toDisplayCode } from './icd-codes.ts'
import type { Diagnosis } from './schema.ts'

const FOUND_MAX = 50
const WORDS_MAX = 10

export interface IndexedDiagnosis {
  /** Without its dot. */
  code: string
  description: string
  is_secondary: boolean
  /** Code and description in lower case, with a tab between them. */
  text: string
}

/** @param lines code, description, and 1 if it is secondary, separated by tabs; sorted by code */
export const buildIcdIndex = (lines: string): IndexedDiagnosis[] =>
  (lines ? lines.split('\n') : []).map((line) => {
    const [code, description, secondary] = line.split('\t') as [string, string, string]
    return { code, description, is_secondary: secondary === '1', text: `${code}\t${description}`.toLowerCase() }
  })

/** Returns diagnoses whose code begins with the query, in order, then diagnoses that contain every word of it, by rank: 50 at most. */
export function searchIndex(index: readonly IndexedDiagnosis[], query: string): Diagnosis[] {
  const words = query
    .toLowerCase()
    .trim()
    .split(/[\s,;]+/)
    .filter(Boolean)
    .slice(0, WORDS_MAX)
    .map(withoutDot)
  const [first, ...others] = words
  if (first === undefined) return []
  const byCode = others.length ? [] : index.filter(({ text }) => text.startsWith(first)).slice(0, FOUND_MAX)
  const isText = byCode.length < FOUND_MAX && words.some((word) => word.length > 1)
  const byText = index
    .filter((item) => isText && words.every((word) => item.text.includes(word)) && !byCode.includes(item))
    .map((item) => ({ item, rank: rankMatch(item.text, words) }))
    .toSorted((a, b) => b.rank - a.rank || a.item.text.length - b.item.text.length)
    .map(({ item }) => item)
  return [...byCode, ...byText].slice(0, FOUND_MAX).map(({ code, description, is_secondary }) => ({
    diagnosis_code: toDisplayCode(code),
    description,
    is_secondary,
  }))
}

/** Codes may contain their dot. */
const withoutDot = (word: string): string => (/^[a-z][0-9][0-9a-z]\.[0-9a-z]*$/.test(word) ? word.replace('.', '') : word)

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
