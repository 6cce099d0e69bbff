// Correct spelling of words in pictures: letters that look alike are distinguished by the names and units that laboratories print.
import { isUnit } from '../../lab-values/units.ts'
import { once, shippedTerms } from '../loinc/terms.ts'
import type { PageText, Word } from '../pages/page.ts'
import { repairGaps } from './word-gaps.ts'

/** A word of which each letter is surer than this was read right. */
const CERTAIN = 0.97
const LETTERS_MIN = 4
/** Shorter words are changed only where letters look alike. */
const EDITED_LETTERS_MIN = 6
/** A name that is printed for fewer terms does not decide what another word means. */
const UNIT_TERMS_MIN = 3

const REPORT_WORDS =
  `test tests name result results value values unit units flag reference range interval normal abnormal high low critical borderline optimal
  desirable deficiency insufficiency sufficiency deficient insufficient sufficient method specimen sample serum plasma blood urine stool panel profile
  function complete comprehensive basic metabolic lipid thyroid liver kidney renal hepatic routine differential absolute automated positive negative
  reactive non-reactive detected indeterminate equivocal present absent trace clear cloudy yellow amber straw hazy pending previous current observed
  total direct indirect calculated estimated ratio count index random fasting male female adult children laboratory laboratories pathology report
  haematology hematology biochemistry chemistry immunology serology microbiology haemogram hemogram coagulation hormones vitamins minerals cardiac iron
  studies electrolytes diabetes leucocyte leucocytes haemoglobin haematocrit oestradiol interpretation comment remarks`.split(
    /\s+/u,
  )

/** Units as reports print them beside those of the shipped terms. */
const PRINTED_UNITS =
  'fL pg % mill/cumm lakhs/cumm /cumm cells/cumm thou/cumm gm/dL mg% mm/hr mm/1st hr sec x10E3/uL x10E6/uL x10^9/L x10^12/L K/uL M/uL Thousand/uL Million/uL'.split(
    ' ',
  )

interface Vocabulary {
  words: ReadonlySet<string>
  /** Those of fewer letters. */
  short: ReadonlySet<string>
  shortAlike: ReadonlyMap<string, string | null>
  /** Words by how they look; null where several look the same. */
  alike: ReadonlyMap<string, string | null>
  units: ReadonlyMap<string, string | null>
  printedUnits: ReadonlySet<string>
}

/** The words of the names of shipped terms, by whether they have fewer than four letters. */
const nameWords = once(() => {
  const [words, short] = [new Set(REPORT_WORDS), new Set<string>()]
  for (const term of shippedTerms())
    for (const name of [term.displayName, ...term.aliases, ...term.sharedAliases])
      for (const [word] of name.toLowerCase().matchAll(/[\p{L}\d]+/gu)) (word.length >= LETTERS_MIN ? words : short).add(word)
  return { words, short }
})

/** Whether reports print this word of four letters or more, in lower case. */
export const isReportWord = (word: string): boolean => nameWords().words.has(word)

const vocabulary = once((): Vocabulary => {
  const { words, short } = nameWords()
  const unitCounts = new Map<string, number>(PRINTED_UNITS.map((unit) => [unit, UNIT_TERMS_MIN]))
  for (const term of shippedTerms())
    for (const unit of term.units) {
      const printed = unit.replaceAll(/[[\]]/gu, '').replaceAll(/\{[^}]*\}/gu, '')
      if (isUnit(printed)) unitCounts.set(printed, (unitCounts.get(printed) ?? 0) + 1)
    }
  const units = [...unitCounts].filter(([, count]) => count >= UNIT_TERMS_MIN).map(([unit]) => unit)
  return {
    words,
    short,
    shortAlike: byLook([...short].filter((word) => /^\p{L}{3}$/u.test(word))),
    alike: byLook([...words]),
    units: byLook(units),
    printedUnits: new Set(units),
  }
})

function byLook(texts: readonly string[]): Map<string, string | null> {
  const map = new Map<string, string | null>()
  for (const text of texts) map.set(lookOf(text), map.has(lookOf(text)) && map.get(lookOf(text)) !== text ? null : text)
  return map
}

/** What a text looks like to the text recognition: the letters that it takes for each other are one. */
const lookOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll('µ', 'u')
    .replaceAll(/rn|nn|im|rm/gu, 'm')
    .replaceAll(/c[il1!/]/gu, 'd')
    .replaceAll(/vv/gu, 'w')
    .replaceAll(/[i1!|/[\]]/gu, 'l')
    .replaceAll(/[0qe]/gu, 'o')
    .replaceAll(/[c]/gu, 'o')
    .replaceAll('9', 'g')
    .replaceAll('8', 'b')
    .replaceAll('5', 's')
    .replaceAll(/l+/gu, 'l')

/** A page of a picture with its words as they are spelled; a page of text as it is. */
export function spelledPage(page: PageText): PageText {
  if (page.source !== 'ocr') return page
  const ofDays = page.words.some(({ text }) => /^(?:24-?h\w*|24|day|daily)$/iu.test(text))
  const spelledWords = page.words.map((word) => spelledWord(withLastLetter(word, ofDays)))
  return { ...page, words: repairGaps(spelledWords, { isLong: isReportWord, isShort: (word) => nameWords().short.has(word) }) }
}

function spelledWord(word: Word): Word {
  if (word.confidence >= CERTAIN) return word
  return { ...word, text: spell(word.confidence < UNSURE ? withoutDot(word.text) : word.text) }
}

/** Of a word in which a dot may be a letter. */
const UNSURE = 0.6

/** `Ur.a`: the one word that has one letter in place of the dot, else the one that has two or none. */
function withoutDot(text: string): string {
  const [, start = '', last = '', end = ''] = /^(\p{L}{2,})\.(\p{L}+)(\W*)$/u.exec(text) ?? []
  if (!start) return text
  for (const counts of [[1], [0, 2]]) {
    const found = [...vocabulary().words].filter(
      (word) =>
        counts.includes(word.length - start.length - last.length) &&
        word.startsWith(start.toLowerCase()) &&
        word.endsWith(last.toLowerCase()),
    )
    if (found.length === 1) return withCaseOf(found[0]!, start + last) + end
  }
  return text
}

/** A `%` that was hardly read. */
const WEAK = 0.5

/**
 * The `l` at the end of `g/l` and `mg/dl`, which is often lost or taken for another stroke, and `%`. A gram in a day is left on pages of
 * specimens that were collected over days.
 */
function withLastLetter(word: Word, ofDays: boolean): Word {
  if (word.text === '&' && word.confidence < WEAK) return { ...word, text: '%' }
  // `UI` is `IU` in some languages; nothing else is written `Ul` before a slash.
  if (/^[mµunk]?Ul\//u.test(word.text)) return { ...word, text: word.text.replace('Ul/', 'UI/') }
  const unit = /^([munpµ]?(?:g|mol|U|IU|kat)|[mu]?Eq|[GT])\/([dmuµ]?)[il|!It1]?$/u.exec(word.text)
  if (!unit || (unit[2] === 'd' && ofDays) || /^.*\/[dmuµ]?l$/u.test(word.text)) return word
  return unit[2] === 'm' || unit[2] === 'u' || unit[2] === 'µ' ? word : { ...word, text: `${unit[1]}/${unit[2]}l` }
}

/** A word as a report spells it; as it is if it is spelled so, or if nothing that reports print looks like it. */
export function spell(text: string): string {
  // A dot behind a flag, a number or a whole word is dirt.
  if (/^[HL][.,]$/u.test(text)) return text[0]!
  const dotted = /^(.*?([\p{L}\d]+))\.$/u.exec(text)
  if (
    dotted &&
    (/\d$/u.test(dotted[1]!) || (dotted[2]!.length > LETTERS_MIN && vocabulary().words.has(dotted[2]!.toLowerCase())))
  )
    return spell(dotted[1]!)
  return spelledUnit(text) ?? text.replaceAll(/[\p{L}\d!|[\]]+/gu, spelledPart)
}

function spelledUnit(text: string): string | undefined {
  // `x10~9/L` and `x109/L` are powers of ten.
  const plain = text.replace(/[.,]$/u, '').replace(/^([xX]?10)[~"']?(3|6|9|12)(?=\/)/u, '$1^$2')
  const { units, printedUnits: printed } = vocabulary()
  if (printed.has(plain) || (plain !== text && /^[xX]?10\^/u.test(plain))) return plain
  // What is no unit and looks like one; `g/cL` is one that nobody prints.
  if (!/\p{L}/u.test(plain) || (isUnit(plain) && !/\/c[Ll]$/u.test(plain))) return undefined
  const found =
    units.get(lookOf(plain)) ??
    units.get(lookOf(plain.replace(/\/c[Ll]$/u, '/dL'))) ??
    units.get(lookOf(plain.replace(/[Tt]$/u, 'L')))
  if (
    !found ||
    plain.length < 2 ||
    Math.abs(found.length - plain.length) > (found.length > LETTERS_MIN ? 2 : 1) ||
    (!found.includes('/') && !/\d/u.test(plain))
  )
    return undefined
  return found
}

function spelledPart(part: string): string {
  const letters = part.match(/\p{L}/gu)?.length ?? 0
  if (letters < 2 || letters < part.length * 0.6) return part
  const lower = part.toLowerCase()
  const { words, short, alike, shortAlike } = vocabulary()
  if (words.has(lower) || short.has(lower)) return part
  // `rine`, `erum`: the first letter behind a comma is lost.
  if (letters === part.length && letters >= LETTERS_MIN && letters < EDITED_LETTERS_MIN && /^\p{Ll}/u.test(part)) {
    const whole = [...'abcdefghijklmnopqrstuvwxyz'].filter((letter) => words.has(letter + lower))
    if (whole.length === 1) return whole[0]!.toUpperCase() + part
  }
  // Thin letters at the end are lost.
  if (letters === part.length && letters >= LETTERS_MIN && letters < EDITED_LETTERS_MIN && words.has(`${lower}l`))
    return part + (part === part.toUpperCase() ? 'L' : 'l')
  if (/^lg[ADEGM]$/u.test(part)) return `I${part.slice(1)}`
  // `8UN`: a letter that was read as a digit or a sign.
  if (part.length === 3) return /\d|[!|]/u.test(part) ? (shortAlike.get(lookOf(part))?.toUpperCase() ?? part) : part
  const [, core = part, end = ''] = /^(.*?)([[\]|]*)$/u.exec(part)!
  const found = letters >= LETTERS_MIN ? (alike.get(lookOf(core)) ?? edited(core.toLowerCase(), words)) : undefined
  return found ? withCaseOf(found, core) + (found === core.toLowerCase() ? end : '') : part
}

/** The one word of the vocabulary from which a long word differs by a letter. */
function edited(text: string, words: ReadonlySet<string>): string | undefined {
  if (text.length < EDITED_LETTERS_MIN) return undefined
  const found = new Set<string>()
  for (let index = 0; index <= text.length; index++) {
    const without = text.slice(0, index) + text.slice(index + 1)
    if (words.has(without) && without.length >= EDITED_LETTERS_MIN) found.add(without)
    for (const letter of 'abcdefghijklmnopqrstuvwxyz') {
      const inserted = text.slice(0, index) + letter + text.slice(index)
      const replaced = text.slice(0, index) + letter + text.slice(index + 1)
      if (words.has(inserted)) found.add(inserted)
      if (words.has(replaced)) found.add(replaced)
    }
  }
  return found.size === 1 ? [...found][0] : undefined
}

/** In capitals, with a first capital, or in small letters, as it was read. */
function withCaseOf(word: string, original: string): string {
  const letters = original.match(/\p{L}/gu) ?? []
  const capitals = letters.filter((letter) => letter !== letter.toLowerCase()).length
  if (capitals > letters.length / 2) return word.toUpperCase()
  return /^\p{Lu}/u.test(original) ? word[0]!.toUpperCase() + word.slice(1) : word
}
