// Words to lines, lines to cells, and what each cell holds: a cell that holds several things is split.
import { isRangesOfGroups } from '../../lab-values/ranges-of-groups.ts'
import { rangeOf } from '../../lab-values/ranges.ts'
import { isUnit } from '../../lab-values/units.ts'
import {
  boundOf,
  flagOf,
  intervalOf,
  isBloodGroup,
  isComparator,
  numberOf,
  partFlag,
  valueKind,
  type ValueKind,
} from '../../lab-values/values.ts'
import { type Box, boxAround, centerX, centerY, heightOf, overlapX, overlapY, type PageText, type Word } from '../pages/page.ts'
import { dateIn } from '../texts/dates.ts'
import { isOneValue, wordsOfNumber } from './digit-groups.ts'
import { withResultsAtNames, withUnitsBeside } from './stacked-units.ts'
import * as tolerances from './tolerances.ts'

/** Words next to each other without a gap that would part columns. */
export interface Cell {
  text: string
  box: Box
  words: Word[]
  /** How far the column of a table's cell reaches. */
  band?: Band
  /** Whether it is in the column of ranges of a table without column names. */
  isRange?: boolean
  /** Whether it is printed below a name, a result or a range that has it as its unit, range or flag. */
  isDetail?: boolean
  /** Whether it is a further line of the cell of a name, and not part of the name. */
  isBelowName?: boolean
}

/** From left to right, in points. */
export interface Band {
  left: number
  right: number
}

export interface Line {
  page: number
  box: Box
  cells: Cell[]
  /** It says who, when and what was examined, and holds no results. */
  isParticulars?: boolean
  /** It stands above the particulars. */
  isLetterhead?: boolean
  /** It is in a table that names no columns: those that a table above names are not its own. */
  isBare?: boolean
}

/** Shorter words, and fewer of them, do not show it. */
const [WIDTH_LETTERS_MIN, WIDTH_WORDS_MIN] = [4, 12]
/** Maximum widths of letters that are compared with all others of a page. */
const WIDTHS_COMPARED = 200

/** What is drawn between texts, also with signs: `|-----|`. */
const SEPARATOR = /^(?:[|¦│·•]|[-–—|_=─.…·]{4,})$/u

/** The lines of a page from top to bottom, their cells from left to right, without regard to tables. */
export function baselinesOf(page: PageText): Line[] {
  const letterIn = letterWidths(page)
  return wordLines(page)
    .map((words) => groupWords(words, letterIn(words)))
    .filter((cells) => cells.length > 0)
    .map((cells) => toLine(page.number, cells))
    .toSorted((a, b) => centerY(a.box) - centerY(b.box))
}

function wordLines(page: PageText): Word[][] {
  const lines: { words: Word[]; top: number; bottom: number }[] = []
  const wordsOfPage = withUnitsBeside(page.words)
  const levelWords = page.source === 'ocr' ? withResultsAtNames(wordsOfPage) : wordsOfPage
  for (const word of levelWords.toSorted((a, b) => centerY(a.box) - centerY(b.box))) {
    const line = lines.findLast(({ top, bottom, words }) => {
      const overlap = Math.min(bottom, word.box.bottom) - Math.max(top, word.box.top)
      const smaller = Math.min(bottom - top, heightOf(word.box))
      const isNext = isNextToWord(word, words)
      // A large value next to a name and a unit is in their line, what stands above a word is not.
      return (
        (overlap > smaller * tolerances.LINE_OVERLAP || isNext) &&
        words.every(
          (wordOfLine) => overlapX(wordOfLine.box, word.box) < heightOf(word.box) * 0.5 || reachesInto(wordOfLine, word),
        )
      )
    })
    if (line) {
      line.words.push(word)
      // The middle of its first words decides, so that a slanted line does not take the next one along.
      if (line.words.length < 4) {
        line.top = Math.min(line.top, word.box.top)
        line.bottom = Math.max(line.bottom, word.box.bottom)
      }
    } else lines.push({ words: [word], top: word.box.top, bottom: word.box.bottom })
  }
  return lines.map(({ words }) => words)
}

/** Whether a word is level with the one close to its left, or stands within the height of that, as a unit at the foot of a large result. */
function isNextToWord({ box }: Word, words: readonly Word[]): boolean {
  const before = words.filter((word) => word.box.right <= box.left)
  if (!before.length) return false
  const last = before.reduce((nearest, word) => (word.box.right > nearest.box.right ? word : nearest))
  const isClose = box.left - last.box.right < heightOf(box) * tolerances.CELL_GAP
  const isLarge = heightOf(last.box) > heightOf(box) * tolerances.LARGE_RESULT
  const overlap = overlapY(last.box, box)
  return (isClose || isLarge) && overlap > Math.min(heightOf(box), heightOf(last.box)) * tolerances.NEXT_OVERLAP
}

/** Whether two words of one line overlap because the first, a unit, had no room in its column. */
function reachesInto(a: Word, b: Word): boolean {
  const isLevel = a.font !== undefined && a.font === b.font && a.box.top === b.box.top && a.box.bottom === b.box.bottom
  const [unit, next] = a.box.left < b.box.left ? [a, b] : [b, a]
  return isLevel && isUnit(unit.text) && next.box.left > centerX(unit.box)
}

export const toLine = (page: number, cells: Cell[]): Line => ({ page, cells, box: boxAround(cells.map((cell) => cell.box)) })

export const cellOf = (words: Word[]): Cell => ({
  text: words.map((word) => word.text).join(' '),
  box: boxAround(words.map((word) => word.box)),
  words,
})

/** The width of each letter in a line of a picture in a font of equal widths; undefined for other lines. The letterhead may be in another font. */
function letterWidths({ source, words }: PageText): (line: readonly Word[]) => number | undefined {
  // The ink of a word ends before its last letter does.
  const widthsOf = (items: readonly Word[]) =>
    items.flatMap(({ text, box }) => (text.length < WIDTH_LETTERS_MIN ? [] : [(box.right - box.left) / (text.length - 0.2)]))
  const widths = source === 'ocr' ? widthsOf(words) : []
  if (widths.length < WIDTH_WORDS_MIN) return () => undefined
  const usual = median(widths)
  if (isUsual(widths, usual)) return () => usual
  const countNear = (width: number) =>
    widths.filter((letter) => Math.abs(letter - width) < width * tolerances.LETTER_WIDTH_NEAR).length
  const samples = widths.filter((_, index) => index % Math.ceil(widths.length / WIDTHS_COMPARED) === 0)
  const most = samples.reduce((best, width) => (countNear(width) > countNear(best) ? width : best))
  if (countNear(most) < widths.length * tolerances.LETTER_WIDTH_SHARE) return () => undefined
  return (line) => {
    const own = widthsOf(line)
    return own.length > 0 && isUsual(own, most) ? most : undefined
  }
}

const isUsual = (widths: readonly number[], usual: number): boolean =>
  median(widths.map((width) => Math.abs(width - usual))) < usual * tolerances.LETTER_WIDTH_SPREAD

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

function groupWords(words: readonly Word[], letter: number | undefined): Cell[] {
  const cells: Word[][] = []
  for (const word of words.toSorted((a, b) => a.box.left - b.box.left)) {
    if (SEPARATOR.test(word.text)) {
      cells.push([])
      continue
    }
    const last = cells.at(-1)?.at(-1)
    const height = last ? Math.min(heightOf(last.box), heightOf(word.box)) : 0
    if (
      last &&
      word.box.left - last.box.right <
        Math.max(
          height * (isNegation(last, word) ? tolerances.DASH_GAP : tolerances.CELL_GAP),
          (letter ?? 0) * tolerances.CELL_GAP_IN_LETTERS,
        )
    )
      cells.at(-1)!.push(word)
    else if (cells.at(-1)?.length === 0) cells.at(-1)!.push(word)
    else cells.push([word])
  }
  return cells
    .map(withoutEnd)
    .filter((cell) => cell.length > 0)
    .map(cellOf)
}

/** `NOT` and `DETECTED` in a picture: parted, they would be two results. */
export const isNegation = (a: Word, b: Word): boolean =>
  a.font === undefined && /^(?:not|non-?|no)$/iu.test(a.text) && /^\p{L}{2}/u.test(b.text)

/** `0 - 10 ;` without the sign that ends a list. */
const withoutEnd = (words: Word[]): Word[] => (/^[;,]$/u.test(words.at(-1)?.text ?? '') ? words.slice(0, -1) : words)

export type CellKind = 'value' | 'unit' | 'range' | 'flag' | 'date' | 'text'

export interface TypedCell extends Cell {
  kind: CellKind
  /** How the text of a value is one. */
  value?: ValueKind
  /** It stands behind a colon. */
  isAnswer?: boolean
}

/** Words of a unit with spaces, such as `mL/min/1.73 m2`. */
const PHRASE_WORDS_MAX = 6
const CELL_WORDS_MAX = 40
const CELL_LETTERS_MAX = 400

/** What stands before a value without naming it. */
const VALUE_LABEL = /^(?:value|result|level|reading)s?:?$/iu

/** `No growth after 48 hours`: how long something took is no result. */
const BEFORE_TIME = /^(?:after|within|for|in|every)$/iu

export const isTimeUnit = (text: string): boolean => /^(?:min(?:ute)?s?|h(?:ou)?rs?|days?|weeks?|months?)$/iu.test(text)

export const withKind = (cell: Cell, kind: CellKind): TypedCell => {
  const value = kind === 'value' ? valueKind(cell.text) : undefined
  return { ...cell, kind, ...(value && { value }) }
}

/** What a cell is as a whole. `<5.7` and `70-99` are both values and ranges: a table's columns decide, else what stands before it. */
function classify(cell: Cell): TypedCell {
  const { text } = cell
  if (dateIn(text)?.text.length === text.length) return withKind(cell, 'date')
  const kind = valueKind(text)
  if (kind === 'number' || kind === 'comparator' || kind === 'ratio') return withKind(cell, 'value')
  if (isUnit(text) && !/^[([]?(?:h|l|m)[)\]]?$/iu.test(text)) return withKind(cell, 'unit')
  if (flagOf(text) && !isLongWord(text)) return withKind(cell, 'flag')
  if (kind === 'interval') return withKind(cell, 'range')
  if (kind === 'word') return withKind(cell, hasExpectedWord(text) ? 'text' : 'value')
  if (SIGNED_WITH_UNIT.test(text)) return withKind(cell, 'text')
  return withKind(cell, rangeOf(text) || isRangesOfGroups(text) ? 'range' : 'text')
}

/** `-2.1 mmol/L` is a result and its unit, and no range without a lower bound. */
const SIGNED_WITH_UNIT = /^[-+−]\d[\d.,]*\s[^\d\s]\S*$/u

/** `Negative (Negative)`: a result and, in brackets, what is expected. */
function hasExpectedWord(text: string): boolean {
  const [, expected] = /^[^()]+ \(([^()]+)\)$/u.exec(text) ?? []
  return expected !== undefined && /\p{L}{2}/u.test(expected) && valueKind(expected) === 'word' && flagOf(expected) === undefined
}

/** `Normal` and `Abnormal` are results as well as flags. */
const isLongWord = (text: string): boolean => /^(?:normal|abnormal|high|low|borderline|critical|positive)$/iu.test(text.trim())

/** What cells hold: regions, cards and rows ask for the same cells, a third of the time of a page of text. */
const splitCells = new WeakMap<Cell, readonly TypedCell[]>()

/**
 * Cuts a cell into what it holds: `95 mg/dL`, `5.4 % H`, `Glucose 95 mg/dL 70-99`. What cannot be read from its end on stays in front as
 * text. A name keeps its numbers (`CA 19-9`, `Vitamin B12`): only what follows a number with a unit, range or flag is cut off it.
 */
export function splitCell(cell: Cell): readonly TypedCell[] {
  let parts = splitCells.get(cell)
  if (!parts) splitCells.set(cell, (parts = splitUncached(cell)))
  return parts
}

function splitUncached(cell: Cell): TypedCell[] {
  // A text of many words is not a row, and trying each part of it would take the square of their number.
  if (cell.words.length > CELL_WORDS_MAX || cell.text.length > CELL_LETTERS_MAX) return [withKind(cell, 'text')]
  const classified = classify(cell)
  if (classified.kind !== 'text') return [classified]
  // `09/24/2024 mg/dL`: the day of an earlier result, and the unit in the next column.
  const [day, unit] = [cell.words.slice(0, -1), cell.words.slice(-1)].map((words) => words.map(({ text }) => text).join(' '))
  if (isUnit(unit!) && dateIn(day!)?.text.length === day!.length)
    return [withKind(cellOf(cell.words.slice(0, -1)), 'date'), withKind(cellOf(cell.words.slice(-1)), 'unit')]
  const spaced = withSpaces(cell)
  const phrasesOfCell = spaced.words.length > cell.words.length ? phrases(spaced, 0, new Map()) : undefined
  if (phrasesOfCell) return phrasesOfCell
  const cache: KnownPhrases = new Map()
  const isReadable = endsInPhrase(cell, cache)
  const parts = (isReadable ? partsBehindName(cell, cache) : undefined) ?? partsWithoutSpaces(cell, spaced)
  return parts ?? (isReadable ? undefined : (withLowSign(cell) ?? withRemark(cell))) ?? [classified]
}

/** What stands behind a name as values, units, ranges and flags, and the name. */
function partsBehindName(cell: Cell, cache: KnownPhrases): TypedCell[] | undefined {
  for (let start = 0; start < cell.words.length; start++) {
    const parts = phrases(cell, start, cache)
    if (!parts) continue
    if (start === 0) return parts
    const [first] = parts
    // `Value Negative`: what stands before a result without naming it.
    if (start === 1 && first!.kind === 'value' && VALUE_LABEL.test(cell.words[0]!.text))
      return [withKind(cellOf(cell.words.slice(0, 1)), 'text'), ...parts]
    const strong = parts.length > 1 && parts.some((part) => part.kind === 'unit' || part.kind === 'range')
    if (!strong || !(first!.kind === 'value' || (first!.kind === 'flag' && parts[1]!.kind === 'value'))) continue
    if (BEFORE_TIME.test(cell.words[start - 1]!.text) && isTimeUnit(parts[1]!.text)) continue
    return [withKind(cellOf(cell.words.slice(0, start)), 'text'), ...parts]
  }
  return undefined
}

/** `Hemoglobin A1c 5.6% (<5.7%)`; `Vitamin C 500mg` is a name. */
function partsWithoutSpaces(cell: Cell, cellWithSpaces: Cell): TypedCell[] | undefined {
  const hasRate = cell.words.some(({ text }) => /^[<>≤≥]?\d[\d.,]*(?:%$|[\p{L}µ]+\/)/u.test(text))
  return hasRate && cellWithSpaces.words.length > cell.words.length ? partsBehindName(cellWithSpaces, new Map()) : undefined
}

/** `3.1 g/L -`: a result, its unit and the sign of a low one, whose opposite is `+`. Behind a number a dash may begin the end of a range. */
function withLowSign(cell: Cell): TypedCell[] | undefined {
  const [sign, unit] = cell.words.toReversed()
  if (sign!.text !== '-' || !unit || !isUnit(unit.text)) return undefined
  const parts = phrases(cellOf(cell.words.slice(0, -1)), 0, new Map())
  return parts?.[0]?.kind === 'value' ? parts : undefined
}

/** `142 mg/dL (High - possible diabetes)`: a result, its unit and a remark in brackets, which may begin with a flag. */
function withRemark(cell: Cell): TypedCell[] | undefined {
  const index = cell.words.findIndex(({ text }) => text.startsWith('('))
  if (index < 1) return undefined
  const remark = cellOf(cell.words.slice(index))
  if (!/^\([^()]*\p{L}{2}[^()]*\)$/u.test(remark.text) || /\d\s?[-–]\s?\d/u.test(remark.text)) return undefined
  const parts = phrases(withSpaces(cellOf(cell.words.slice(0, index))), 0, new Map())
  if (parts?.[0]?.kind !== 'value') return undefined
  const [, flag] = /^\(\s?(high|low|critical|abnormal|normal)(?:\s?[-–—,;:)])/iu.exec(remark.text) ?? []
  return [...parts, flag ? withKind({ ...remark, text: flag }, 'flag') : withKind(remark, 'text')]
}

/** `95mg/dL`, `3.5-5.1mmol/L` and `95 mg/dL(HIGH)` with the spaces that are left out. */
const withSpaces = (cell: Cell): Cell =>
  cellOf(
    cell.words.flatMap((word, index) =>
      flagBehindUnit(word).flatMap((part) => unitBehindNumber(part, cell.words[index + 1]?.text ?? '')),
    ),
  )

/** @param next the word behind, which may be the rest of the unit: `12mm/1st hr` */
function unitBehindNumber(word: Word, next: string): Word[] {
  const [, number = '', unit = ''] =
    /^([<>≤≥]?\d[\d.,]*(?:-\d[\d.,]*)?)([%a-zA-Zµμ^/×][\w%/^*.µμ⁰¹²³⁴⁵⁶⁷⁸⁹]*)$/u.exec(word.text) ?? []
  return unit && (isUnit(unit) || isUnit(`${unit} ${next}`)) ? splitWord(word, number.length) : [word]
}

function flagBehindUnit(word: Word): Word[] {
  const [, unit = '', flag = ''] = /^([^()]+)(\([^()]+\))$/u.exec(word.text) ?? []
  const own = unit.replace(/^[<>≤≥]?\d[\d.,]*/u, '')
  return flag && isUnit(own) && flagOf(flag) ? splitWord(word, unit.length) : [word]
}

function splitWord(word: Word, length: number): Word[] {
  const index = word.box.left + ((word.box.right - word.box.left) * length) / word.text.length
  return [
    { ...word, text: word.text.slice(0, length), box: { ...word.box, right: index } },
    { ...word, text: word.text.slice(length), box: { ...word.box, left: index } },
  ]
}

/** `Hgb/Hct` as two cells, without the slash. */
export function partsAtSlash(words: readonly Word[]): Cell[] {
  const parts: Word[][] = [[]]
  for (const word of words) {
    let rest = word
    for (let slash = rest.text.indexOf('/'); slash >= 0; slash = rest.text.indexOf('/')) {
      const [before, behind] = splitWord(rest, slash + 1) as [Word, Word]
      if (slash > 0) parts.at(-1)!.push({ ...before, text: before.text.slice(0, -1) })
      parts.push([])
      rest = behind
    }
    if (rest.text) parts.at(-1)!.push(rest)
  }
  return parts.filter((part) => part.length > 0).map(cellOf)
}

/** What phrases of a cell are, by their first word and length: each start tries most of them again, half of the time of a page of text. */
type KnownPhrases = Map<number, TypedCell | undefined>

function phraseAt(cell: Cell, index: number, count: number, cache: KnownPhrases): TypedCell | undefined {
  const key = index * (PHRASE_WORDS_MAX + 1) + count
  if (!cache.has(key)) {
    const words = cell.words.slice(index, index + count)
    cache.set(key, readPhrase(cellOf(words), count) ?? beforeComma(words, cell.words[index + count]))
  }
  return cache.get(key)
}

/** A list of classes goes on with other words: `low risk < 1.2 g/L, moderate < 1.0 g/L`. */
const BEHIND_COMMA = /^(?:[\d<>≤≥([]|normal\b|ref|\p{L}{1,2}$)/iu

/** `12 umol/L, 10-30, L` */
function beforeComma(words: Cell['words'], next: Word | undefined): TypedCell | undefined {
  if (!/[,;]$/u.test(words.at(-1)!.text) || !BEHIND_COMMA.test(next?.text ?? '')) return undefined
  const cell = cellOf([...words.slice(0, -1), ...withoutCommas(words.slice(-1))])
  return isUnit(cell.text) ? withKind(cell, 'unit') : intervalOf(cell.text) ? withKind(cell, 'range') : undefined
}

/** Whether anything can be cut off the end of a cell; off most texts nothing can, and each start would try six phrases: a quarter of the time of a page of text. */
function endsInPhrase(cell: Cell, cache: KnownPhrases): boolean {
  const end = cell.words.length
  for (let count = 1; count <= Math.min(PHRASE_WORDS_MAX, end); count++)
    if (phraseAt(cell, end - count, count, cache)) return true
  return false
}

/** A phrase that is a value, a unit, a range or a flag. A number with its unit is not one phrase here, though it can be read as a range. */
function readPhrase(phrase: Cell, count: number): TypedCell | undefined {
  const { text } = phrase
  if (count > 1 && /^[<>≤≥]?\d/u.test(text) && !intervalOf(text) && !boundOf(text) && numberOf(text) === undefined)
    return undefined
  // `(10 - 30) Low`, `! 8.5-10.5`: the flag stands for itself, and so does the unit.
  if (count > 1 && (/^[([][^()[\]]*\d[^()[\]]*[)\]]\s/u.test(text) || /^(?:[*!]{1,3}|[↑↓▲▼]{1,2})\s\d/u.test(text)))
    return undefined
  // `106 (High) mg/dL`: the flag stands for itself.
  if (count > 1 && /^\(.*\)$/u.test(phrase.words[0]!.text) && flagOf(phrase.words[0]!.text)) return undefined
  // `C 0.9` may be the end of a name and its result.
  if (count > 1 && /^\p{L}{1,2}\s/u.test(text) && partFlag(text).flag) return undefined
  const kind = classify(phrase)
  return kind.kind === 'text' ? undefined : kind
}

/** The words from `start` on as values, units, ranges and flags without a rest; undefined if some are none. */
function phrases(cell: Cell, start: number, cache: KnownPhrases): TypedCell[] | undefined {
  const parts: TypedCell[] = []
  let index = start
  while (index < cell.words.length) {
    // `4.5 % - LOW (normal 4.8 to 5.6)`
    if (parts.length && index < cell.words.length - 1 && /^[-–—,;]$/u.test(cell.words[index]!.text)) {
      index++
      continue
    }
    let part: TypedCell | undefined
    for (let count = Math.min(PHRASE_WORDS_MAX, cell.words.length - index); count > 0 && !part; count--)
      part = isOneValue(cell.words, index, count) ? phraseAt(cell, index, count, cache) : undefined
    if (!part) return undefined
    // `5.2 10^9 cells/L`: the power belongs to a unit that is not known.
    if (/^10[\^⁰¹²³⁴-⁹]/u.test(part.text) && parts.at(-1)?.value === 'number' && part.kind === 'value') return undefined
    parts.push(part)
    index += part.words.length
  }
  return parts
}

/** A cell in a column of results: anything can be one there but a unit or a range alone. */
export const isValueInColumn = (cell: TypedCell): boolean =>
  cell.kind === 'value' ||
  isBloodGroup(cell.text) ||
  partFlag(cell.text).flag !== undefined ||
  (cell.kind === 'range' && (intervalOf(cell.text) !== undefined || /^(?:more|less|greater) than \d/iu.test(cell.text)))

/** Longer texts are not rows. */
const LETTERS_MAX = 400
const CODE = /\s?[([]LOINC(?: code)?:?\s?\d{1,7}-\d[)\]]/iu

/** The line without the LOINC codes in brackets, whose colons and numbers would part names and results. */
export function withoutPrintedCodes(line: Line): Line {
  if (!line.cells.some(({ text }) => CODE.test(text))) return line
  const cells = line.cells.map(withoutCode).filter(({ words }) => words.length > 0)
  return cells.length ? toLine(line.page, cells) : line
}

function withoutCode(cell: Cell): Cell {
  const match = cell.text.length > LETTERS_MAX ? null : CODE.exec(cell.text)
  if (!match) return cell
  const [from, to] = [match.index, match.index + match[0].length]
  let index = 0
  const words = cell.words.flatMap((word) => {
    const [start, end] = [index, index + word.text.length]
    index = end + 1
    if (end <= from || start >= to) return [word]
    const text = word.text.slice(0, Math.max(0, from - start)) + word.text.slice(Math.max(0, to - start))
    return text ? [{ ...word, text }] : []
  })
  return withoutCode({ ...cellOf(words), ...(cell.band && { band: cell.band }) })
}

/** Lines whose number stands by itself: fewer show no column. */
const LINES_MIN = 2

/**
 * The lines of a page with the number at the end of a first cell as a cell of its own, where the rest is the name of something that
 * laboratories measure, another cell follows, and the numbers of other lines begin or end at the same place: `Bicarbonate 23`, `22 to 29`.
 */
export function withResultsParted(lines: readonly Line[], isNamed: (name: string) => boolean): Line[] {
  const numbers = lines.flatMap(({ cells: [, second] }) => (second && numberOf(second.text) !== undefined ? [second.box] : []))
  const isInColumn = ({ box }: Word) =>
    (['left', 'right'] as const).some(
      (edge) => numbers.filter((numberBox) => Math.abs(numberBox[edge] - box[edge]) < tolerances.SAME_EDGE).length >= LINES_MIN,
    )
  return lines.map((line) => {
    const [first, ...rest] = line.cells
    const [number, ...name] = first ? first.words.toReversed() : []
    if (!rest.length || !name.length || numberOf(number!.text) === undefined || !isInColumn(number!)) return line
    const cells = [cellOf(name.toReversed()), cellOf([number!])]
    return isNamed(cells[0]!.text) ? { ...line, cells: [...cells, ...rest] } : line
  })
}

type IsNamed = (name: string) => boolean

/** Words of a name within a line of several results. */
const NAME_WORDS_MAX = 6
/** A line of more words is not searched for results. */
const WORDS_MAX = 120
/**
 * Cuts a cell that holds several results into the name of each and what follows it; any other cell stays whole. Each name has to be one that
 * laboratories measure, word for word, with a number behind it.
 */
export function resultsInCell(cell: Cell, isNamed: IsNamed): Cell[] {
  const { words } = cell
  const numbers = words.map(({ text }) => isNumber(text.replace(/[,;]$/u, '')))
  if (words.length > WORDS_MAX || numbers.filter(Boolean).length < 2) return [cell]
  const nameLength = (start: number): number => {
    if (!/^[\p{L}\d]/u.test(words[start]!.text) || numbers[start] || intervalOf(words[start]!.text)) return 0
    for (let count = Math.min(NAME_WORDS_MAX, words.length - 1 - start); count > 0; count--)
      if (numbers[start + count] && isNamed(cellOf(words.slice(start, start + count)).text)) return count
    return 0
  }
  const results: { start: number; behindName: number; behindNumber: number }[] = []
  let start = 0
  for (let length = nameLength(0); length > 0; length = start < words.length ? nameLength(start) : 0) {
    const behindName = start + length
    const behindNumber = behindName + wordsOfNumber(words, behindName)
    results.push({ start, behindName, behindNumber })
    for (start = behindNumber; start < words.length && nameLength(start) === 0;) start++
  }
  if (results.length < 2) return [cell]
  return results.flatMap(({ start: from, behindName, behindNumber }, index) => [
    cellOf(words.slice(from, behindName)),
    cellOf(withoutCommas(words.slice(behindName, behindNumber))),
    ...withoutRest(withoutCommas(words.slice(behindNumber, results[index + 1]?.start))),
  ])
}

const isNumber = (text: string): boolean => {
  const { value } = partFlag(text)
  return numberOf(value) !== undefined || isComparator(value)
}

const withoutCommas = (words: Cell['words']): Cell['words'] =>
  words.map((word) => ({ ...word, text: word.text.replace(/[,;]$/u, '') || word.text }))

/** What follows a number as far as it can be read, and what cannot be read behind it. */
function withoutRest(words: Cell['words']): Cell[] {
  let count = words.length
  while (count > 0 && splitCell(cellOf(words.slice(0, count))).some(({ kind }) => kind === 'text')) count--
  return [words.slice(0, count), words.slice(count)].filter((part) => part.length > 0).map(cellOf)
}

/** A letter that could be a flag is the end of the name in front of it where the name is known with it, or not known without it: `Vitamin C`. */
export function withLettersOfNames(cells: readonly TypedCell[], isNamed: IsNamed): TypedCell[] {
  const result: TypedCell[] = []
  for (const [index, cell] of cells.entries()) {
    const name = result.at(-1)
    const isLetter = cell.kind === 'flag' && /^\p{L}{1,2}$/u.test(cell.text) && cells[index + 1]?.kind === 'value'
    if (isLetter && name?.kind === 'text' && isNext(name, cell) && (isNamed(`${name.text} ${cell.text}`) || !isNamed(name.text)))
      result[result.length - 1] = { ...name, ...cellOf([...name.words, ...cell.words]) }
    else result.push(cell)
  }
  return result
}

/** Cells of a name behind its first one: `3`, `Index`. */
const ENDS_MAX = 2

/**
 * A number or a word that could be a result is the end of the name in front of it where the name is known with it and another result follows:
 * `IgG 4  0.5`, `Folic acid 8.1`, `Omega 3 Index 5.5`.
 */
export function withEndsOfNames(typedCells: readonly TypedCell[], isNamed: IsNamed): TypedCell[] {
  const cells = typedCells.flatMap((cell, index) => withoutEndOfName(cell, typedCells[index - 1], isNamed))
  const result: TypedCell[] = []
  for (let index = 0; index < cells.length; index++) {
    const name = result.at(-1)
    const count = name?.kind === 'text' ? cellsOfName(name, cells.slice(index), isNamed) : 0
    if (!count) {
      result.push(cells[index]!)
      continue
    }
    const ends = cells.slice(index, index + count)
    result[result.length - 1] = { ...name!, ...cellOf([...name!.words, ...ends.flatMap(({ words }) => words)]) }
    index += count - 1
  }
  return result
}

/** `12 250` behind `Vitamin B`, which is no name without its number, as two numbers and no groups of digits. */
function withoutEndOfName(cell: TypedCell, name: TypedCell | undefined, isNamed: IsNamed): TypedCell[] {
  const [first, ...others] = cell.words
  const isGrouped = name?.kind === 'text' && cell.value === 'number' && others.length > 0 && isNext(name, cell)
  return isGrouped && !isNamed(name.text) && isNamed(`${name.text} ${first!.text}`)
    ? [cellOf([first!]), cellOf(others)].map((part) => withKind(part, 'value'))
    : [cell]
}

/** How many cells behind a name belong to it. */
function cellsOfName(name: Cell, cells: readonly TypedCell[], isNamed: IsNamed): number {
  // `Cells` is a unit elsewhere.
  const isEnd = ({ kind, value, text }: TypedCell) =>
    value === 'word' || (value === 'number' && /^\d{1,3}$/u.test(text)) || (kind === 'unit' && /^\p{L}{4,}$/u.test(text))
  if (!isEnd(cells[0]!)) return 0
  for (let count = ENDS_MAX; count > 0; count--) {
    const ends = cells.slice(0, count)
    const isClose = ends.every((cell, index) => isNext(ends[index - 1] ?? name, cell))
    const text = [name, ...ends].map((cell) => cell.text).join(' ')
    const result = cells[count]
    // `eAG: 120 mg/dL - HIGH`: a flag is no other result, and a unit with a slash no word of a name.
    const isResult = result?.kind === 'value' && flagOf(result.text) === undefined
    if (isClose && isResult && !ends.some((cell) => cell.text.includes('/')) && isNamed(text)) return count
  }
  return 0
}

const isNext = (a: Cell, b: Cell): boolean => b.box.left - a.box.right < heightOf(b.box) * tolerances.CELL_GAP
