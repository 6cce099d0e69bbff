// What the cells of a line are, one by one: a cell that holds several things is cut.
import type { Word } from '../pages/page.ts'
import { cellOf, type Cell } from './lines.ts'
import {
  boundOf,
  flagOf,
  intervalOf,
  isBloodGroup,
  numberOf,
  partFlag,
  valueKind,
  type ValueKind,
} from '../../lab-values/values.ts'
import { isRangesOfGroups } from '../../lab-values/ranges-of-groups.ts'
import { rangeOf } from '../../lab-values/ranges.ts'
import { isUnit } from '../../lab-values/units.ts'
import { dateIn } from './dates.ts'

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

export const withKind = (cell: Cell, kind: CellKind): TypedCell => {
  const value = kind === 'value' ? valueKind(cell.text) : undefined
  return { ...cell, kind, ...(value && { value }) }
}

/** What a cell is as a whole. `<5.7` and `70-99` are both values and ranges: a table's columns decide, else what stands before it. */
export function classify(cell: Cell): TypedCell {
  const { text } = cell
  if (dateIn(text)?.text.length === text.length) return withKind(cell, 'date')
  const kind = valueKind(text)
  if (kind === 'number' || kind === 'comparator' || kind === 'ratio') return withKind(cell, 'value')
  if (isUnit(text) && !/^[([]?(?:h|l|m)[)\]]?$/iu.test(text)) return withKind(cell, 'unit')
  if (flagOf(text) && !isLongWord(text)) return withKind(cell, 'flag')
  if (kind === 'interval') return withKind(cell, 'range')
  if (kind === 'word') return withKind(cell, 'value')
  return withKind(cell, rangeOf(text) || isRangesOfGroups(text) ? 'range' : 'text')
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
  // A text of many words is no row, and trying each part of it would take the square of their number.
  if (cell.words.length > CELL_WORDS_MAX || cell.text.length > CELL_LETTERS_MAX) return [withKind(cell, 'text')]
  const classified = classify(cell)
  if (classified.kind !== 'text') return [classified]
  const spaced = withSpaces(cell)
  const phrasesOfCell = spaced.words.length > cell.words.length ? phrases(spaced, 0, new Map()) : undefined
  if (phrasesOfCell) return phrasesOfCell
  const cache: KnownPhrases = new Map()
  if (!endsInPhrase(cell, cache)) return withRemark(cell) ?? [classified]
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
    return [withKind(cellOf(cell.words.slice(0, start)), 'text'), ...parts]
  }
  return [classified]
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
const withSpaces = (cell: Cell): Cell => cellOf(cell.words.flatMap((word) => flagBehindUnit(word).flatMap(unitBehindNumber)))

function unitBehindNumber(word: Word): Word[] {
  const [, number = '', unit = ''] = /^([<>≤≥]?\d[\d.,]*(?:-\d[\d.,]*)?)([%a-zA-Zµμ^/][\w%/^*.µμ]*)$/u.exec(word.text) ?? []
  return unit && isUnit(unit) ? splitWord(word, number.length) : [word]
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

/** What phrases of a cell are, by their first word and length: each start tries most of them again, half of the time of a page of text. */
type KnownPhrases = Map<number, TypedCell | undefined>

function phraseAt(cell: Cell, index: number, count: number, cache: KnownPhrases): TypedCell | undefined {
  const key = index * (PHRASE_WORDS_MAX + 1) + count
  if (!cache.has(key)) cache.set(key, readPhrase(cellOf(cell.words.slice(index, index + count)), count))
  return cache.get(key)
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
    if (parts.length && index < cell.words.length - 1 && /^[-–—]$/u.test(cell.words[index]!.text)) {
      index++
      continue
    }
    let part: TypedCell | undefined
    for (let count = Math.min(PHRASE_WORDS_MAX, cell.words.length - index); count > 0 && !part; count--)
      part = phraseAt(cell, index, count, cache)
    if (!part) return undefined
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
