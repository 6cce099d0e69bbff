// Results and references that are words: `Negative`, `NOT DETECTED`, `Trace`, `1+`. Whether a result is what the reference expects.
import { isResultWord } from './values.ts'

/** Longer texts are prose. */
const TEXT_MAX = 120

const NEGATIVE = new Set(
  `negative|neg|nonreactive|non reactive|not reactive|not detected|non detected|none detected|nil detected|undetected|undetectable|target not detected
|absent|not present|none|none seen|not seen|nil|nil seen|none found|not found|no growth|not isolated|none isolated|no organisms seen|no pathogens isolated|no abnormality detected`
    .split('|')
    .map((word) => word.trim()),
)
const POSITIVE = new Set(
  `positive|pos|reactive|detected|target detected|present|isolated|found|weakly positive|weak positive|low positive|strongly positive|strong positive|weakly reactive
|strongly reactive|repeatedly reactive|presumptive positive|abnormal`
    .split('|')
    .map((word) => word.trim()),
)

/** Grades by rising amount. Words of one scale can be compared; what is not there is 0 in each of them. */
const SCALES: readonly (readonly (readonly string[])[])[] = [
  [
    ['trace', 'tr'],
    ['1+', '+'],
    ['2+', '++'],
    ['3+', '+++'],
    ['4+', '++++'],
  ],
  [['trace', 'tr'], ['small'], ['moderate'], ['large']],
  [['rare'], ['occasional', 'occ'], ['few', 'scant', 'scanty'], ['moderate'], ['many', 'numerous', 'plenty']],
]

/** Words that a reference rules out, in addition to those of the sets above. */
const OPPOSITES: Record<string, readonly string[]> = {
  normal: ['abnormal'],
  immune: ['non immune', 'not immune'],
  adequate: ['inadequate'],
  satisfactory: ['unsatisfactory'],
  clear: ['slightly cloudy', 'cloudy', 'slightly hazy', 'hazy', 'slightly turbid', 'turbid'],
}

/** Without case, marks, underscores, hyphens between words, full stops and repeated spaces; undefined if it is prose. */
function plainWord(text: string): string | undefined {
  if (text.length > TEXT_MAX) return undefined
  return text
    .normalize('NFKC')
    .trim()
    .toLowerCase()
    .replaceAll(/^\*+|\*+$/gu, '')
    .replaceAll(/[_\u2010-\u2015]/gu, '-')
    .replaceAll(/(?<=\p{L})-(?=\p{L})/gu, ' ')
    .replaceAll(/\s+/gu, ' ')
    .replace(/[.!]$/u, '')
    .replace(/^\((.*)\)$/u, '$1')
    .replace(/^([1-4])\s\+$/u, '$1+')
    .trim()
}

/** `Non-Reactive (0.02)`, `Positive (1:80)`: the index that a word was read from does not change it. */
const withoutIndex = (word: string): string =>
  word.replace(/\s?\((?:(?:[\p{L}/ ]{1,20}:?\s?)?[<>≤≥]?=?\s?\d[\d.,:]*(?:\s?[\w/%]+)?|-)\)$|\s[<>≤≥]=?\s?\d[\d.,:]*$/u, '')

/** `1+ (positive)`, `positive 2+`: a grade and the word that says the same. */
const withoutPositive = (word: string): string =>
  /^(?:positive|pos|present|detected|reactive)\s?\(?([1-4]\+|\+{1,4}|trace)\)?$/u.exec(word)?.[1] ??
  /^([1-4]\+|\+{1,4}|trace)\s?\(?(?:positive|pos|present|detected|reactive)\)?$/u.exec(word)?.[1] ??
  word

const wordOf = (text: string): string | undefined => {
  const word = plainWord(text)
  return word === undefined ? undefined : withoutPositive(withoutIndex(word))
}

/** What one word expects or says: nothing there, something there (as a grade of some scales, if it has one), or itself alone. */
interface Meaning {
  word: string
  isNegative: boolean
  isPositive: boolean
  /** By scale; 0: nothing there. */
  grades: readonly (number | undefined)[]
}

/** Few cells or bacteria are usual where none are expected: nothing follows from them. */
const USUAL_AMOUNTS = new Set(['rare', 'occasional', 'occ', 'few', 'scant', 'scanty'])

function meaningOf(word: string): Meaning {
  const isNegative = NEGATIVE.has(word)
  const grades = SCALES.map((scale) => {
    const grade = scale.findIndex((words) => words.includes(word))
    return isNegative ? 0 : grade < 0 ? undefined : grade + 1
  })
  return {
    word,
    isNegative,
    isPositive: POSITIVE.has(word) || (!USUAL_AMOUNTS.has(word) && grades.some((grade) => grade !== undefined && grade > 0)),
    grades,
  }
}

/** Words that name no finding: `See note`, `Pending`. A reference of one of them expects nothing. */
const NO_FINDING =
  /^(?:see |pending|tnp|not (?:applicable|reported|performed|given|established|calculated|tested|available|done)|n\/?a|none (?:given|established)|test not|unknown|comment)/u

/** Whether a result says in words that there is nothing: `Negative`, `Nil`, `Not detected`. */
export const isNothing = (result: string): boolean => NEGATIVE.has(wordOf(result) ?? '')

/**
 * Whether a result that is a word is what a reference of words expects: `Negative`, `Negative or trace`, `None - Few`. True or false only
 * where that is certain: another finding is false (`Reactive` where `Non-Reactive` is expected), `Equivocal` and free texts are undefined.
 */
export function isExpectedWord(result: string, reference: string): boolean | undefined {
  const [word, expected] = [wordOf(result), plainWord(reference)]
  if (!word || !expected || NO_FINDING.test(word) || NO_FINDING.test(expected)) return undefined
  const value = meaningOf(word)
  const ends = endsOf(reference)
  if (ends) return isBetween(value, ends)
  const options = alternatives(withoutIndex(expected)).map((option) => meaningOf(withoutPositive(withoutIndex(option))))
  // `Positive / Negative` is a list of the possible answers.
  if (options.some(({ isNegative }) => isNegative) && options.some(({ word }) => POSITIVE.has(word))) return undefined
  if (options.some((option) => option.word === value.word || (option.isNegative && value.isNegative))) return true
  if (options.some(({ word }) => Object.hasOwn(OPPOSITES, word) && OPPOSITES[word]!.includes(value.word))) return false
  if (options.every(({ isNegative }) => isNegative)) return value.isPositive ? false : undefined
  if (options.every(({ word }) => POSITIVE.has(word))) return value.isNegative ? false : value.isPositive ? true : undefined
  const highest = SCALES.map((_, index) => Math.max(...options.map(({ grades }) => grades[index] ?? NaN)))
  return value.grades.some((grade, index) => grade !== undefined && grade > highest[index]!) ? false : undefined
}

/** Whether a text is a reference of words: `Normal`, `Non-Reactive (S/CO <1.00)`, `Negative or trace`, `Yellow/Straw`, `None - Few`. */
export function isReferenceOfWords(text: string): boolean {
  if (text.length > TEXT_MAX) return false
  const options = alternatives(withoutIndex(text.trim()))
  return endsOf(text) !== undefined || (options.length > 0 && options.every(isResultWord))
}

/** The ends of `Negative - Trace` and `None to few`. */
function endsOf(text: string): [Meaning, Meaning] | undefined {
  const [, from, to] = /^(.{1,40}?)(?:\s(?:to|through)\s|\s?[-–—~]\s?)(.{1,40})$/iu.exec(text.trim()) ?? []
  const [least, most] = [from && plainWord(from), to && plainWord(to)]
  if (!least || !most) return undefined
  const ends: [Meaning, Meaning] = [meaningOf(least), meaningOf(most)]
  return ends[0].grades.some((grade, index) => grade !== undefined && (ends[1].grades[index] ?? 0) > grade) ? ends : undefined
}

function isBetween(value: Meaning, [lower, upper]: [Meaning, Meaning]): boolean | undefined {
  for (const [index, grade] of value.grades.entries()) {
    const [low, high] = [lower.grades[index], upper.grades[index]]
    if (grade !== undefined && low !== undefined && high !== undefined) return grade >= low && grade <= high
  }
  return undefined
}

/** `Negative/Trace`, `Yellow, straw`, `Negative or 1+`. */
const alternatives = (text: string): string[] =>
  text
    .split(/\s?[/,;|]\s?|\sor\s/iu)
    .map((word) => word.trim())
    .filter(Boolean)
