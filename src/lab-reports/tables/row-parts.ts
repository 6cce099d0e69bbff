// A row of results and its parts: answers behind a colon, units, second results of a line, headings.
import { isUnit } from '../../lab-values/units.ts'
import { boundOf, type Flag, flagOf, intervalOf, isBloodGroup, isResultWord } from '../../lab-values/values.ts'
import { type Box, boxAround, centerX, heightOf, overlapX, type PageText } from '../pages/page.ts'
import { looksLikeSentence } from '../texts/names.ts'
import { type Cell, cellOf, isTimeUnit, isValueInColumn, type Line, type TypedCell, withKind } from './table-cells.ts'
import { type Column, columnKind } from './headers.ts'
import { nearestColumn } from './regions.ts'
import * as tolerances from './tolerances.ts'

export interface Row {
  page: number
  /** Box of the whole row, and of the result in it. */
  box: Box
  value_box: Box
  name: string
  value: string
  unit: string | null
  /** The lines of the reference range as printed. */
  range_lines: string[]
  flag: Flag | null
  panel: string | null
  /** The heading above the headings of parts such as `Microscopic examination`: it tells the specimen. */
  section: string | null
  /** What was examined, how it was measured and when it was taken, as printed for this row. */
  specimen: string | null
  method: string | null
  date: string | null
  /** From 0 to 1: the least certain word of the row. */
  confidence: number
  /** Notes on this result alone. */
  comments: string[]
}

/** A row of these cells of which nothing is known. */
export const newRow = (page: number, cells: readonly Cell[]): Row => ({
  page,
  box: boxAround(cells.map(({ box }) => box)),
  value_box: cells[0]!.box,
  name: '',
  value: '',
  unit: null,
  range_lines: [],
  flag: null,
  panel: null,
  section: null,
  specimen: null,
  method: null,
  date: null,
  confidence: Math.min(1, ...cells.flatMap(({ words }) => words.map(({ confidence }) => confidence))),
  comments: [],
})

export interface ReadRowsOptions {
  /** Whether a text is the name of something that laboratories measure: it makes a row of a line that has nothing else to show for it. */
  isAnalyte: (name: string) => boolean
  /** Whether a text is, word for word, such a name: it is one even where it looks like a label. */
  isNamed: (name: string) => boolean
  /** Texts that are not headings, though they look like some: the name of the laboratory. */
  isLetterhead?: (text: string) => boolean
  /** Whether a text names a specimen, and not its number. */
  isSpecimen?: (text: string) => boolean
}

/** A part of a line; `isAnswer`: it stands behind a colon. */
export interface Part {
  cell: Cell
  isAnswer: boolean
}

/** Words of a result that is a text: `Calcium oxalate crystals, few`. */
const ANSWER_WORDS_MAX = 6

/** `Colour : Brownish` as a name and its answer; a colon at the beginning of a cell is dropped. `isNamed` tells that a text is a name. */
export function partsAtColon(cell: Cell, isNamed: (name: string) => boolean): Part[] {
  const index = cell.words.findIndex(({ text }) => text === ':' || /^:\S/u.test(text))
  const name = cell.words.slice(0, Math.max(index, 0)).map(({ text }) => text)
  // `A : G Ratio` is one name.
  if (
    index === 0 ||
    (index > 0 && !/^[([]|[([][^)\]]*$/u.test(name.join(' ')) && /\p{L}{2}/u.test(name.join(' ')) && !isNamed(cell.text))
  ) {
    const [first, ...others] = cell.words.slice(index)
    const answer = first!.text === ':' ? others : [{ ...first!, text: first!.text.slice(1) }, ...others]
    return [
      ...(index ? [{ cell: cellOf(cell.words.slice(0, index)), isAnswer: false }] : []),
      ...(answer.length ? [{ cell: cellOf(answer), isAnswer: true }] : []),
    ]
  }
  const end = cell.words.findIndex(({ text }) => /\p{L}.*:$/u.test(text)) + 1
  if (end > 0 && end < cell.words.length && isNamed(cellOf(cell.words.slice(0, end)).text.slice(0, -1)))
    return [
      { cell: cellOf(cell.words.slice(0, end)), isAnswer: false },
      { cell: cellOf(cell.words.slice(end)), isAnswer: true },
    ]
  return [{ cell, isAnswer: false }]
}

/** Grades of test strips, which are flags next to a result. */
const GRADE = /^\((?:\+{1,4}|-|±)\)$|^\+{1,4}$/u

export const isGrade = ({ kind, text }: TypedCell): boolean => kind === 'flag' && GRADE.test(text)

/**
 * The letter of a blood group is not a flag where the name says so, nor a grade that is the only result of a line; at the begin of a line `pH`
 * is not a unit and `Cl` not a flag.
 */
export function reclassify(
  cell: TypedCell,
  index: number,
  cells: readonly TypedCell[],
  isNamed: (name: string) => boolean,
): TypedCell {
  if (cell.isRange && cell.value === 'word') return { ...cell, kind: 'range' }
  // `Normal  [Normal]`: behind a word, what is expected.
  if (cell.kind === 'flag' && /^[[(]/u.test(cell.text) && flagOf(cell.text) === 'normal' && cells[index - 1]?.value === 'word')
    return { ...cell, kind: 'range' }
  if (cell.kind === 'flag' && isBloodGroup(cell.text) && /\b(?:group|type|abo)\b/iu.test(cells[index - 1]?.text ?? ''))
    return { ...cell, kind: 'value', value: 'word' }
  if (isGrade(cell) && index === 1 && cells[0]!.kind === 'text')
    if (!cells.some(({ kind }) => kind === 'value')) return { ...cell, kind: 'value', value: 'word' }
  // What follows a result begins another one, as at the begin of a line.
  const isFirst = index === 0 || (cells[index + 1]?.kind === 'value' && cells[index - 1]!.kind === 'unit')
  const isName = (cell.kind === 'unit' || cell.kind === 'flag') && isFirst && cells.length > 1 && isNamed(cell.text)
  return isName ? { ...cell, kind: 'text' } : cell
}

/** Whether what stands behind a colon answers a name that is known, or is what only a result can be. */
export const isShortAnswer = ({ text, isAnswer }: TypedCell, isKnown: boolean): boolean =>
  isAnswer === true &&
  (isKnown || saysSeen(text)) &&
  text.split(' ').length <= ANSWER_WORDS_MAX &&
  !NOT_STATED.test(text) &&
  /[\p{L}\d]/u.test(text) &&
  // `speckled. ENA screen to follow.` is a comment.
  !/\p{Ll}{3}\.\s\p{Lu}/u.test(text) &&
  !looksLikeSentence(text)

/** `: Negative` behind a name. */
export const isWordBehindColon = ({ isAnswer, value, text }: TypedCell): boolean =>
  isAnswer === true && (saysSeen(text) || (value === 'word' && !/^(?:yes|no|normal|true|false)$/iu.test(text)))

/** `E. histolytica cyst seen`, `Candida species isolated`: results of a microscope or a culture. */
const saysSeen = (text: string): boolean => /\p{L}\s(?:seen|isolated|detected|identified|grown|observed)\.?$/iu.test(text)

/** Nothing was measured. */
const NOT_STATED = /^not (?:provided|given|stated|available|known|specified)$/iu

/** `1447 Test Ct, Nowhere, NC 27000-0001`: where a laboratory is. */
const ADDRESS = /\p{L}, [A-Z]{2} \d{5}(?:-\d{4})?(?!\d)/u

/**
 * A dash, an address, or a number with a leading zero that has neither unit nor range, as telephones and samples have: `0441`, `0253-5550123`,
 * and behind `Ph` the first digits of one.
 */
export const isNoMeasurement = (text: string, { name, hasUnitOrRange }: { name: string; hasUnitOrRange: boolean }): boolean =>
  /^(?:[–—]+|-{2,})$/u.test(text) ||
  ADDRESS.test(text) ||
  (/^ph:?$/iu.test(name) && /^0\d[\d-]*$/u.test(text)) ||
  (!hasUnitOrRange && /^0\d{2,}(?:[-/]\d{5,})?$/u.test(text))

const UNIT_WORDS_MAX = 4

/** `>90 mL/min/1.73 m²`, `4 - 6 /hpf` and `Nil /hpf` as a result and its unit: where a result is expected they are not a range. */
export function withoutUnit(cell: TypedCell): TypedCell[] {
  if (cell.kind !== 'range') return [cell]
  for (let count = Math.min(UNIT_WORDS_MAX, cell.words.length - 1); count > 0; count--) {
    const [value, unit] = [cellOf(cell.words.slice(0, -count)), cellOf(cell.words.slice(-count))]
    const isMeasured = boundOf(value.text) !== undefined || intervalOf(value.text) !== undefined || isResultWord(value.text)
    if (isUnit(unit.text) && isMeasured) return [withKind(value, 'value'), withKind(unit, 'unit')]
  }
  return [cell]
}

/** Where the second of two results of one name begins, each with a unit of its own: `Neutrophils 58 % 40-75 4.3 10^3/uL 2.0-7.5`. */
export function secondResult(cells: readonly TypedCell[]): number | undefined {
  const isNumber = (cell: TypedCell) => cell.kind === 'value' && cell.value !== 'word' && cell.value !== 'comparator'
  const first = cells.findIndex((cell, index) => index > 0 && isNumber(cell))
  if (first < 0 || cells[first - 1]!.kind !== 'text') return undefined
  const second = cells.findIndex((cell, index) => index > first && isNumber(cell))
  if (second < 0 || cells.slice(first, second).some(({ kind }) => kind === 'text')) return undefined
  const unitIn = (part: readonly TypedCell[]) => part.find((cell) => cell.kind === 'unit')?.text.toLowerCase()
  const [one, other] = [unitIn(cells.slice(first + 1, second)), unitIn(cells.slice(second + 1))]
  return one !== undefined && other !== undefined && one !== other ? second : undefined
}

/** Whether the second part of a name that is parted over two lines continues the first. */
export function joinsName(first: string, second: string, isNamed: (name: string) => boolean): boolean {
  // `Haematinics-`: the rule behind the heading of a frame was read as a dash.
  if (/\p{L}{4}-$/u.test(first) && isNamed(second) && !isNamed(`${first}${second}`) && !isNamed(`${first} ${second}`))
    return false
  if (/[,/(–]$|\p{L}{4}-$|\b(?:of|and|with|to|by)$/iu.test(first) || (first.includes('(') && !first.includes(')'))) return true
  // `wRfx`, `w/ Reflex`
  if (/^w(?:\/|rfx\b|reflex\b)/iu.test(second)) return true
  // `pH`, `hsCRP` and `hs-CRP` begin small and are names of their own.
  return /^[a-z,/]/u.test(second) && !/^[a-z]{1,3}-?[A-Z]/u.test(second) && !isNamed(second)
}

interface Around extends Pick<ReadRowsOptions, 'isNamed' | 'isSpecimen'> {
  /** The row above. */
  last: Row | undefined
}

/** Whether a text alone in a line is the first part of the name in the next one, as `Total Iron` above `Binding Capacity (TIBC)`. */
export function beginsName(
  first: { text: string; line: Line },
  line: Line,
  name: string,
  { isNamed, isSpecimen, last }: Around,
): boolean {
  if (joinsName(first.text, name, isNamed)) return true
  const [height, gap] = [heightOf(first.line.box), line.box.top - first.line.box.bottom]
  const fontOf = ({ cells }: Line) => cells[0]!.words[0]!.font
  // A panel `Hemoglobin A1c` above the test of this name.
  const isRepeated = first.text.split(' ').some((word) => name.toLowerCase().includes(word.toLowerCase()))
  return (
    last !== undefined &&
    last.page === line.page &&
    Math.abs(first.line.box.left - line.box.left) < tolerances.NAME_ALIGNED &&
    gap > -height * tolerances.NAME_LINE_GAP &&
    gap < height * tolerances.NAME_LINE_GAP &&
    !isRepeated &&
    !isStage(first.text) &&
    !isPanelTitle(first.text) &&
    first.line.box.top - last.box.bottom > gap + height * tolerances.NAME_GAP_ABOVE &&
    fontOf(first.line) === fontOf(line) &&
    isNamed(`${first.text} ${name}`) &&
    !isSpecimen?.(first.text)
  )
}

/** `Bone profile`, `Hepatic Function Panel (7)`, `TUMOUR MARKERS` */
export const isPanelTitle = (text: string): boolean =>
  /\b(?:panel|profile|markers|studies|function|tests|screen)(?: \(\d+\))?$/iu.test(text)

/** Whether a free text can be a result: short, and neither the name of another one nor a list of ranges. */
export const isFreeResult = (text: string, isNamed: (name: string) => boolean): boolean =>
  text.length <= 80 &&
  !looksLikeSentence(text) &&
  !isNamed(text) &&
  !listsRanges(text) &&
  !isInUnit(text) &&
  // `Current Result` names a column.
  columnKind(text) !== 'value'

/** `TSH in µIU/mL`: the name of a column in a table that explains results. */
const isInUnit = (text: string): boolean => {
  const [, unit] = /\p{L}.*?\sin\s?(\S+(?: \S+)?)$/u.exec(text) ?? []
  return unit !== undefined && isUnit(unit)
}

/** `first trimester 0.10 - 2.50, second 0.20 - 3.00`: what an explanation says, also behind a colon. */
export const listsRanges = (text: string): boolean => /\d\s?[-–]\s?\d.*\d\s?[-–]\s?\d/u.test(text)

/** A free text or a comparator alone may be anything, unless its name is known or something else of a result is there. */
export function hasEvidence(
  name: string,
  value: TypedCell,
  rowCells: readonly TypedCell[],
  { isAnalyte, isNamed }: Pick<ReadRowsOptions, 'isAnalyte' | 'isNamed'>,
): boolean {
  if (isValueInColumn(value) && value.value !== 'comparator') return true
  return (
    rowCells.some((cell) => cell !== value) ||
    isNamed(name) ||
    isWordBehindColon(value) ||
    (value.kind === 'text' && isAnalyte(name))
  )
}

/** Headings of parts of the examination of one specimen. */
export const isPartOfExamination = (text: string): boolean =>
  /^(?:physical|chemical|microscop\w+|macroscop\w+|gross|general|motility|morphology|physico)\b/iu.test(text)

/** `Confirmation (LC-MS/MS)`: the heading of a stage of examination, of which some names are known with it. */
export const isStage = (text: string): boolean => /^(?:screen(?:ing)?|confirm(?:ation|atory)?)\b/iu.test(text)

/** Names that say nothing: the heading above is what was measured. */
const NAMELESS = /^(?:(?:test )?results?|values?|levels?|readings?|findings?|observed values?|interpretation of result)$/iu

/** `Recheck in 6 weeks` is not a result. */
export const isAppointment = (name: string, unit: string | undefined): boolean =>
  /\s(?:in|every|after|for)$/iu.test(name) && /^(?:days?|weeks?|months?|years?)$/iu.test(unit ?? '')

/** A name with what the heading above it tells: `Fasting` under `Blood Sugar`. */
export function nameUnder(heading: string, name: string): string {
  if (NAMELESS.test(name)) return heading
  return /^fasting$/iu.test(name) && /\b(?:sugar|glucose)\b/iu.test(heading) ? `${heading} ${name}` : name
}

const NOTE =
  /^(?:methods?|methodology|notes?|comments?|remarks?|technique|instrument|kit|material)\b|^(?:sample|specimen)(?:\s*(?:type|source))?\s*(?::|$)/iu

export interface HeadingPlace {
  page: PageText
  columns: readonly Column[] | null
  usualHeight: number
  /** The cells of lines with several. */
  rowCells: readonly Cell[]
  /** Whether rows or a heading stand above in the same region. */
  isBelow: boolean
  /** The row above. */
  last: Row | undefined
}

/** Whether a line of text alone can be the heading of a panel where it stands. */
export function isHeading(
  line: Line,
  text: string,
  { page, columns, usualHeight, rowCells, isBelow, last }: HeadingPlace,
): boolean {
  if (NOTE.test(text) || /^[\p{Ll}&]/u.test(text) || /[.,;]$/u.test(text) || /\d{5}/u.test(text)) return false
  if (/\b(?:cumulative|lab(?:oratory)?|pathology|checkup|medical|diagnostic|final|test) reports?$/iu.test(text)) return false
  // In a picture capitals are as high as they are drawn, without the room below the line.
  const least = page.source === 'ocr' && text === text.toUpperCase() ? tolerances.HEADING_OF_CAPITALS : tolerances.HEADING_HEIGHT
  if (isBelow && heightOf(line.box) < usualHeight * least) return false
  const name = columns?.find(({ kind }) => kind === 'name')
  if (!name || !columns) return true
  // In a slanted picture names drift from that of their column.
  const left = page.source === 'ocr' && last?.page === line.page ? Math.max(name.box.left, last.box.left) : name.box.left
  if (line.box.left <= left + tolerances.HEADING_INDENT) return true
  const value = columns.find(({ kind }) => kind === 'value')
  if (heightOf(line.box) >= usualHeight * tolerances.HEADING_LARGER && value && line.box.left < value.box.left) return true
  const isCentered = Math.abs(centerX(line.box) - page.width / 2) < page.width * tolerances.HEADING_CENTERED
  const kind = nearestColumn(line.box, columns)?.kind
  return (isCentered && kind !== 'other' && kind !== 'comment') || standsAside(line.box, rowCells)
}

/** Fewer cells do not show how a column is aligned. */
const COLUMN_CELLS_MIN = 2

/** Whether a text begins, ends and has its middle where few cells of the columns do that it reaches over: a heading in the middle of its table. */
function standsAside(box: Box, rowCells: readonly Cell[]): boolean {
  const near = rowCells.filter((cell) => overlapX(cell.box, box) > 0).map((cell) => cell.box)
  const isAside = (placeOf: (box: Box) => number) =>
    near.filter((cellBox) => Math.abs(placeOf(cellBox) - placeOf(box)) < tolerances.SAME_EDGE).length <=
    near.length * tolerances.ALIGNED_SHARE
  return near.length >= COLUMN_CELLS_MIN && isAside(({ left }) => left) && isAside(({ right }) => right) && isAside(centerX)
}

/** The median of the heights of the words of a page. */
export function usualHeight({ words }: PageText): number {
  const heights = words.map(({ box }) => heightOf(box)).toSorted((a, b) => a - b)
  return heights[heights.length >> 1] ?? 0
}

export const joinedText = (cells: readonly { text: string; box: Box }[]): string =>
  cells
    .toSorted((a, b) => a.box.left - b.box.left)
    .map((cell) => cell.text)
    .join(' ')
    .trim()

/** The unit that the columns of results or ranges name. */
export const unitOfColumns = (columns: readonly Column[]): string | undefined =>
  [...columns]
    .sort((a, b) => Number(a.kind !== 'value') - Number(b.kind !== 'value'))
    .find(({ kind, unit }) => unit && UNITS_OF.has(kind))?.unit

const UNITS_OF = new Set(['value', 'normal_value', 'abnormal_value', 'dated_value', 'range'])

/** Units that are names as well: `Reaction (pH)`, `Prothrombin time (INR)`. */
const NAMES_TOO = /^(?:[a-z]|ph|inr|isr|ratio|index|score|calc|mom|sd|ai|coi|titre|titer|hpf|lpf|phpf)$/iu

/** `TSH (0.4 - 4.5 mIU/L)` in front of its result: a row without a range with that of its name. */
export function withNamedRange(row: Row): Row {
  const [, name, range = ''] = (row.range_lines.length ? null : /^(.*\p{L}.*?)\s?[([]([^()[\]]+)[)\]]$/u.exec(row.name)) ?? []
  if (!name || !/\d/u.test(range) || !/\d/u.test(row.value)) return row
  const words = range.split(' ')
  const [bounds, unit] = [1, 2, 3].flatMap((count): [string, string | null][] => {
    const rest = words.slice(count).join(' ')
    return rest === '' || (isUnit(rest) && !isTimeUnit(rest)) ? [[words.slice(0, count).join(' '), rest || null]] : []
  })[0] ?? [range, null]
  if (!intervalOf(bounds) && !boundOf(bounds)) return row
  return { ...row, name, range_lines: [range], unit: row.unit ?? unit }
}

/** A row of numbers without a unit of its own with that of its name, `Glucose (mg/dL)`, else with that of its column. */
export function withNamedUnit(row: Row, ofColumns?: string): Row {
  if (row.unit !== null || !/\d/u.test(row.value)) return row
  const [, name, unit = ''] = /^(.*\p{L}.*?)\s?[([]([^()[\]]+)[)\]]$/u.exec(row.name) ?? []
  if (name && isUnit(unit) && !NAMES_TOO.test(unit)) return { ...row, name, unit }
  return withUnitBehindName(row) ?? (ofColumns === undefined ? row : { ...row, unit: ofColumns })
}

/** `Sodium mmol/L`, `Glucose, mg/dL`: a unit with a slash can be no word of a name. */
function withUnitBehindName(row: Row): Row | undefined {
  const words = row.name.split(' ')
  for (let count = Math.min(UNIT_WORDS_MAX, words.length - 1); count > 0; count--) {
    const [name, unit] = [words.slice(0, -count).join(' ').replace(/,$/u, ''), words.slice(-count).join(' ')]
    if (unit.includes('/') && isUnit(unit) && !/^[([]/u.test(unit) && /\p{L}{2}/u.test(name)) return { ...row, name, unit }
  }
  return undefined
}

/** `mL/min/1.73` whose `m2` is in the line below: alone it can be nothing else. */
export function withRestOfArea(row: Row, pages: readonly { page: PageText }[]): Row {
  if (!row.unit || !/\/\s?1[.,]73$/u.test(row.unit)) return row
  const { words } = pages.find(({ page }) => page.number === row.page)!.page
  const { left, right, bottom } = row.box
  const rest = words.find(
    ({ text, box }) =>
      /^m(?:2|²|\^2)$/u.test(text) &&
      box.left > row.value_box.right - heightOf(box) &&
      left <= box.left &&
      box.right <= right &&
      Math.abs(box.top - bottom) < heightOf(box),
  )
  return rest ? { ...row, unit: `${row.unit} ${rest.text}` } : row
}

/** Fewer rows with the same number may be names that end with it: `Vitamin B 12`. */
const MARKED_MIN = 4
/** So many of them must be read rightly. */
const MARK_MIN = 2
/** Minimum share of all rows. */
const SHARE_MIN = 0.5
const MARK = /^(.*\S)\s+[0oO]?(\d)$/u
/** `MCV n1`, `MCHC (01`, `Hemoglobin 0 1`, `Totalo1`: such a number with a letter or sign for a digit. `02`: that of another site. */
const MISREAD_MARK = /^(.*?\p{L}\)?)(?:\s(?:[([]\d{1,2}|[oOQnD][\dliI|!?]?|0 ?[\dliI|!?]?)|(?<=\p{L}{3}\)?)[oO0]\d)$/u

/** `Urea o1`, `Sodium oi`: no name ends so. */
const LETTER_MARK = /(?:\s|(?<=\p{L}{3}\)?))(?:o[\dil]?|O[\dil])$/u

/** `WBC1`, `RBC01`, `Hemoglobino1`: a number above the line that was read as the end of a name. */
const JOINED_MARK = /^(.*?[\p{L})])[oO0°]?(\d)$|^(.*?\d)[oO0°](\d)$/u

/** Rows without the number that most of their names end with. */
export function withoutSiteMarks(rows: readonly Row[], isNamed: ReadRowsOptions['isNamed']): Row[] {
  return withoutJoinedMarks(withoutPartedMarks(rows), isNamed)
}

/** Without a number that is joined to many names which are known without it, and not with it. */
function withoutJoinedMarks(rows: readonly Row[], isNamed: ReadRowsOptions['isNamed']): Row[] {
  const names = rows.map(({ name }) => {
    const [, plain, number, plainWithDigit, numberBehind] = JOINED_MARK.exec(name) ?? []
    const mark = { plain: plain ?? plainWithDigit ?? '', number: number ?? numberBehind ?? '' }
    return mark.plain && !isNamed(name) && isNamed(mark.plain) ? mark : undefined
  })
  const isUsual = (number: string) => names.filter((mark) => mark?.number === number).length >= MARKED_MIN
  return rows.map((row, index) => {
    const mark = names[index]
    return mark && isUsual(mark.number) ? { ...row, name: mark.plain } : row
  })
}

function withoutPartedMarks(rows: readonly Row[]): Row[] {
  const counts = new Map<string, number>()
  for (const { name } of rows) {
    const number = MARK.exec(name)?.[2]
    if (number) counts.set(number, (counts.get(number) ?? 0) + 1)
  }
  const [mostUsed, count] = [...counts].toSorted(([, one], [, other]) => other - one)[0] ?? ['', 0]
  // In pictures hardly any of them may be read rightly, and some not at all.
  const misread = rows.filter(({ name }) => LETTER_MARK.test(name)).length
  const isUsual = count >= MARKED_MIN && count >= rows.length * SHARE_MIN
  if (!isUsual && (count < MARK_MIN || misread < MARKED_MIN)) return [...rows]
  return rows.map((row) => {
    const [, name, number] = MARK.exec(row.name) ?? []
    const withoutMisread = row.name.replace(MISREAD_MARK, '$1')
    return { ...row, name: withoutMisread === row.name && number === mostUsed ? name! : withoutMisread }
  })
}
