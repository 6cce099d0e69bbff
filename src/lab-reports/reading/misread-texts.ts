// Texts in rows of pictures that may be misread: names and units that no laboratory uses, ranges that are cut, lost decimal signs.
import { specimenOfLetter, specimensIn } from '../loinc/name-text.ts'
import { isUnit } from '../../lab-values/units.ts'
import { isWordOfResults, numberOf } from '../../lab-values/values.ts'
import { areInLine } from '../pages/page.ts'
import type { ReadRowsOptions, Row } from '../tables/row-parts.ts'
import { isSusceptibility } from '../texts/antibiotics.ts'
import type { ReadingFinding, RowFinding } from './finding.ts'
import { isUsualWord } from './language.ts'
import { isNameWord, isReportWord, lacksSlash } from './spelling.ts'
import type { Reading } from './table-doubts.ts'

const UNKNOWN_NAME: ReadingFinding = {
  kind: 'name_is_unknown',
  text: 'No laboratory is known to use this name as it was read from the picture: letters, signs or spaces may be wrong.',
}
const UNKNOWN_UNIT: ReadingFinding = {
  kind: 'unit_is_no_unit',
  text: 'The unit as it was read from the picture is not known: letters may be wrong.',
}
const CUT_RANGE: ReadingFinding = {
  kind: 'range_is_doubtful',
  text: 'A bound of the range, or a sign of it, may be lost: its bounds are not written alike.',
}
const LOST_SIGN: ReadingFinding = {
  kind: 'value_is_far_from_range',
  text: 'The value is far from its range and has no decimal sign, which the range has: it may be lost.',
}

const THOUSANDS: ReadingFinding = {
  kind: 'value_is_far_from_range',
  text: 'The value has three decimals, and nothing else in its row has: its point may be a comma between thousands.',
}
const UNKNOWN_WORDS: ReadingFinding = {
  kind: 'value_is_no_result',
  text: 'The result has a word that no report is known to use as it was read from the picture: letters or spaces may be wrong.',
}
const UNSURE_SIGN: ReadingFinding = {
  kind: 'value_is_no_result',
  text: 'A plus sign in a picture is easily taken for this sign.',
}

type Names = Pick<ReadRowsOptions, 'isNamed'>

/** Rows of pictures of which letters, digits, signs or spaces may be misread. */
export function misreadTexts({ pages, rows }: Reading, names: Names): RowFinding[] {
  const pictures = new Set(pages.flatMap(({ page }) => (page.source === 'ocr' ? [page.number] : [])))
  const usual = usualForms(rows)
  return rows.flatMap((row, index) => {
    if (!pictures.has(row.page)) return []
    const findings = [
      isKnownName(row, names, pages) && !lacksComma(row, usual) && (usual.hasJoinedPercents || !JOINED_PERCENT.test(row.name))
        ? undefined
        : UNKNOWN_NAME,
      row.unit === null || (isUnit(row.unit) && !isPerhapsOfDay(row, pages) && !isPerhapsOfName(row)) ? undefined : UNKNOWN_UNIT,
      isCutRange(row, usual) ? CUT_RANGE : undefined,
      hasLostSign(row) ? LOST_SIGN : undefined,
      hasPointForComma(row) ? THOUSANDS : undefined,
      row.value.includes('±') ? UNSURE_SIGN : undefined,
      hasUnknownWord(row, pages) ? UNKNOWN_WORDS : undefined,
    ]
    return findings.flatMap((finding) => (finding ? [{ row: index, finding }] : []))
  })
}

/** How a report writes its names and ranges. */
interface UsualForms {
  /** What stands behind a comma in names, in lower case: `serum` of `Ferritin, Serum`. */
  behindCommas: ReadonlySet<string>
  /** `0.5`, and never `.5` */
  hasZeros: boolean
  /** `<8.8` */
  hasDecimalBounds: boolean
  /** `40-`, `-30` */
  hasOpenRanges: boolean
  /** `LYM%`, `GRA%`, and none with a space */
  hasJoinedPercents: boolean
}

const usualForms = (rows: readonly Row[]): UsualForms => {
  const ranges = rows.map(({ range_lines: lines }) => lines.join(' '))
  return {
    behindCommas: new Set(
      rows.flatMap(({ name }) => {
        const [, comma, end] = BEHIND_COMMA.exec(name) ?? []
        return comma ? [end!.toLowerCase()] : []
      }),
    ),
    hasZeros: ranges.some((range) => /(?<![\d.,])0[.,]\d/u.test(range)),
    hasJoinedPercents:
      rows.filter(({ name }) => JOINED_PERCENT.test(name)).length >= OPEN_MIN && rows.every(({ name }) => !/\s%/u.test(name)),
    hasDecimalBounds: ranges.some((range) => /^[<≤]=?\s?\d+\.\d$/u.test(range)),
    hasOpenRanges: ranges.filter((range) => OPEN.test(range)).length >= OPEN_MIN,
  }
}

/** So many open ranges, or percent signs without a space, are how a report prints them. */
const OPEN_MIN = 3
const JOINED_PERCENT = /\p{L}%/u
const OPEN = /^[([]?\s?(?:\d[\d.,]*\s?[-–—]|[-–—]\s?\d[\d.,]*)\s?[)\]]?$/u
/** What tells names apart behind a comma: `Complement C3 Serum` in a report that has `Ferritin, Serum`. */
const BEHIND_COMMA =
  /(,?) (Serum|Plasma|Urine|Total|Direct|Indirect|Free|Quant(?:itative)?|Qual(?:itative)?|NAA|Ven|Art|[1-5]\w\w Generation)$/iu
/** A comma or a bracket at the end of a name was read as a dot, or the name goes on behind it. */
const ENDS_IN_SIGN = /[.,;:&]$/u
/** `HIV1 & II`: a Roman number that was read as a digit. */
const TWO_NUMERALS = /\d\s?[&/+,]\s?I{2,3}$|\bI\s?[&/+,]\s?\d$/u
/** `HSV-1 IgG| Type`, `Factor , Quantitative`, `HIV 1 +2`, `HIV1&II`, `VLDL.Size`: a sign or space that no report prints, or a lost one. `Iron Bind.Cap.` is printed so. */
const MISPLACED_SPACE = /[|¦↑↓]|\s[.,)]|\s\+\d|[\p{L}\d]&[\p{L}\d]|(?<!\b(?:bind|unsat))(?<=\p{L}{4})\.\p{L}{3}/iu
/** `D002`, `R506Q`: numbers of allergens and mutations. */
const CODE = /\d/u
/** `(ICT)`: an abbreviation of a method or of the name. */
const IN_BRACKETS = /\(\p{Lu}{2,5}\)/gu

/** `R.B.C.`, `Neutrophils abs.` */
const ENDS_IN_SHORT_FORM = /(?:^|\s)(?:(?:\p{Lu}\.){2,}|(?:abs|calc|conc|est|conj|quant|qual|turbid)\.)$/iu
/** A name of which each letter is surer than this was read right, also where no laboratory is known to use it. */
const CERTAIN = 0.98

/** Whether a name is one of something that laboratories measure, and each of its words is spelled so, or its letters are certain. */
function isKnownName(row: Row, { isNamed }: Names, pages: Reading['pages']): boolean {
  const { name, value, comments } = row
  if (isSusceptibility(name, value, comments)) return true
  if (
    (ENDS_IN_SIGN.test(name) && !ENDS_IN_SHORT_FORM.test(name)) ||
    MISPLACED_SPACE.test(name) ||
    TWO_NUMERALS.test(name) ||
    lacksSlash(name)
  )
    return false
  const words =
    name
      .replaceAll(IN_BRACKETS, '')
      .toLowerCase()
      .match(/[\p{L}\d]*\p{L}[\p{L}\d]*/gu) ?? []
  const isSpelled = (word: string) => !CODE.test(word) || !/^(?!1st$)[01]\p{L}/u.test(word)
  const isSure = isCertain(row, pages)
  // The dash in `CA 19-9` can be read as a dot, which other laboratories print.
  if (/\bCA ?\d\d\.\d\b/iu.test(name) && !isSure) return false
  // `bi l irubin`: the letters are certain, the spaces are not.
  const isParted = words.some((_, index) => [2, 3].some((count) => isJoinedWord(words.slice(index, index + count))))
  if (!isParted && words.every(isSpelled) && isSure) return true
  // `Ur`, `Fingerstick`: no name of a test, and how reports print specimens.
  const isSpecimenWord = (word: string) =>
    specimensIn(word).length > 0 || (word.length > 1 && specimenOfLetter(word) !== undefined)
  return (
    isNamed(name) &&
    words.every((word) => (CODE.test(word) ? isSpelled(word) : isNameWord(word)) || isUsualWord(word) || isSpecimenWord(word))
  )
}

const isJoinedWord = (parts: readonly string[]): boolean => parts.length > 1 && isReportWord(parts.join(''))

function isCertain({ name, page: number, box, value_box }: Row, pages: Reading['pages']): boolean {
  const words = pages
    .filter(({ page }) => page.number === number)
    .flatMap(({ page }) => page.words)
    .filter((word) => areInLine(word.box, box) && word.box.right <= value_box.left)
  return name.split(' ').every((part) => words.some(({ text, confidence }) => text === part && confidence >= CERTAIN))
}

/** A longer word is several words without their spaces. */
const LETTERS_MAX = 20

/** Whether a result has a word that is neither usual in reports nor certain, or words without spaces: `Histolyticacystsseen`. */
function hasUnknownWord({ value, page: number, value_box }: Row, pages: Reading['pages']): boolean {
  const unknown = (value.match(/\p{L}{4,}/gu) ?? []).filter((word) => {
    const lower = word.toLowerCase()
    return ![isWordOfResults, isReportWord, isNameWord, isUsualWord].some((isKnown) => isKnown(lower))
  })
  if (!unknown.length) return false
  const words = pages.filter(({ page }) => page.number === number).flatMap(({ page }) => page.words)
  const isSure = (part: string) =>
    words.some(({ text, box, confidence }) => text.includes(part) && areInLine(box, value_box) && confidence >= CERTAIN)
  return unknown.some((word) => word.length > LETTERS_MAX || !isSure(word))
}

/** `Cells` next to `Moderate`: the end of the name. */
const isPerhapsOfName = ({ unit, value }: Row): boolean =>
  /^\p{L}{4,}$/u.test(unit ?? '') && numberOf(value) === undefined && !/\d/u.test(value)

/** `mg/d` on a page that has `mg/dL`: of a day, or without its last letter. */
const isPerhapsOfDay = ({ unit, name, page: number }: Row, pages: Reading['pages']): boolean =>
  /\/d$/iu.test(unit ?? '') &&
  !/24/u.test(name) &&
  pages.some(({ page }) => page.number === number && page.words.some(({ text }) => /\/dl$/iu.test(text)))

function lacksComma({ name }: Row, { behindCommas }: UsualForms): boolean {
  const [, comma, end] = BEHIND_COMMA.exec(name) ?? []
  // `Bilirubin Total` is usual everywhere.
  return (
    comma === '' &&
    // `hCG, Urine Qualitative` has its comma.
    !name.includes(',') &&
    (behindCommas.has(end!.toLowerCase()) || /^(?:qual|quant|naa|\d\w\w gen)/iu.test(end!)) &&
    !/^\S+ Total$/iu.test(name)
  )
}

const TWO_BOUNDS = /^[([]?\s?(\d*(?:[.,]\d+)?)\s?(?:-|–|—|−|~|to)\s?(\d*(?:[.,]\d+)?)\s?[)\]]?$/iu

/** `<0` for `<90` */
const BELOW_ZERO = /^[([]?\s?[<≤]\s?0(?:[.,]0*)?\b(?![.,]?\d)/u

function isCutRange({ range_lines: lines, value }: Row, { hasZeros, hasOpenRanges, hasDecimalBounds }: UsualForms): boolean {
  const text = lines.length === 1 ? lines[0]! : ''
  if (!/\d/u.test(text)) return false
  // `<50` for `<5.0`
  const [, bound = ''] = /^[<≤]=?\s?(\d+0)$/u.exec(text) ?? []
  if (bound && hasDecimalBounds && decimalsOf(value) > 0 && (numberOf(value) ?? Infinity) < Number(bound) / 10) return true
  if (BELOW_ZERO.test(text)) return true
  if (text.split(/[([]/u).length !== text.split(/[)\]]/u).length) return true
  if (OPEN.test(text)) return !hasOpenRanges
  const [, low = '', high = ''] = TWO_BOUNDS.exec(text) ?? []
  if (hasZeros && /^[.,]/u.test(high)) return true
  const [min, max] = [numberOf(low), numberOf(high)]
  // `3.5 - 51`
  return min !== undefined && max !== undefined && decimalsOf(low) > 0 && decimalsOf(high) === 0 && min > 0 && max / min >= FAR
}

/** Multiple from which on a lost decimal sign is likelier than a wide range or a high result. */
const FAR = 8

const decimalsOf = (number: string): number => /[.,](\d+)$/u.exec(number)?.[1]?.length ?? 0

const THREE_DECIMALS = /^[<>≤≥]?\s?[1-9]\d{0,2}\.\d{3}$/u

/** `1.284` for `1,284`, where no bound has three decimals and the result is outside of its range; a specific gravity has them. */
function hasPointForComma({ name, value, range_lines: lines }: Row): boolean {
  if (!THREE_DECIMALS.test(value) || lines.some((line) => /\.\d{3}/u.test(line)) || /\bgravity\b/iu.test(name)) return false
  const [min, max] = ((lines.length === 1 && TWO_BOUNDS.exec(lines[0]!)) || []).slice(1).map(numberOf)
  return min === undefined || max === undefined || Number(value) < min || Number(value) > max
}

function hasLostSign({ value, range_lines: lines }: Row): boolean {
  const [, low = '', high = ''] = (lines.length === 1 && TWO_BOUNDS.exec(lines[0]!)) || []
  const max = numberOf(high)
  return max !== undefined && decimalsOf(low) > 0 && decimalsOf(high) > 0 && /^\d+$/u.test(value) && Number(value) > max * FAR
}
