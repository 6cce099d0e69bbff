// Reports without tables: each result is a block of its own, its name above it, its range above or below it.
import { rangeOf } from '../../lab-values/ranges.ts'
import { unitBehind } from '../../lab-values/units.ts'
import { type Flag, flagOf, isBloodGroup, numberOf, partFlag } from '../../lab-values/values.ts'
import { heightOf, overlapX } from '../pages/page.ts'
import { cleanName, isPossibleName, looksLikeSentence } from '../texts/names.ts'
import { hasMisreadUnit, unitOfRange } from './misread-units.ts'
import { type Cell, cellOf, type Line, splitCell, type TypedCell, withKind } from './table-cells.ts'
import { newRow, type Row, withoutUnit } from './row-parts.ts'
import * as tolerances from './tolerances.ts'

export interface Card {
  name: Cell
  value: TypedCell
  unit: string | null
  flag: Flag | null
  range_lines: string[]
  /** All that belongs to it but its name and value. */
  details: Cell[]
  lines: Line[]
}

/** A block as a row of a panel. */
export function rowOfCard(card: Card, page: number, { panel, section }: Pick<Row, 'panel' | 'section'>): Row {
  const { value, flag } = partFlag(card.value.text)
  const cells = [card.name, card.value, ...card.details]
  return {
    ...newRow(page, cells),
    value_box: card.value.box,
    name: cleanName(card.name.text),
    value,
    unit: card.unit,
    range_lines: card.range_lines,
    flag: flag ?? card.flag,
    panel,
    section,
  }
}

/** `ABN 00 000 000 000` is one number. */
const continuesNumber = (value: TypedCell, previous: TypedCell | undefined): boolean =>
  value.value === 'number' && previous?.value === 'number' && value.box.left - previous.box.right < heightOf(value.box)

const LINES_MAX = 4
const RANGE_LABEL = /\b(?:ref(?:erence)?|range|normal|optimal|target|goal|interval|expected|healthy)\b/iu
/** What stands before a value without naming it. */
const VALUE_LABEL = /^(?:(?:your |test )?(?:value|result|level|reading))\s*[:.;]?$/iu

export interface CardNames {
  isAnalyte: (name: string) => boolean
  isNamed: (name: string) => boolean
}

interface TypedLine {
  line: Line
  cells: TypedCell[]
}

/** The blocks among lines, from top to bottom. A value with a name left of it in its line is none: it is a row. */
export function findCards(lines: readonly Line[], names: CardNames): Card[] {
  const typedLines = lines.map((line, index) => ({
    line,
    cells: line.cells
      .flatMap((cell) => splitCell(cell))
      .flatMap((cell) => withUnitOfRange(cell, rangeRightBelow(cell, lines[index + 1]))),
  }))
  const cards: Card[] = []
  for (const [index, { cells }] of typedLines.entries())
    for (const position of cells.keys()) {
      const card = cardUnderLabel(typedLines, index, position, names) ?? cardAt(typedLines, index, position, names)
      if (card) cards.push(card)
    }
  return cards
}

/** The label and range that stand below a cell: `<0.01 mIU/L` above `Reference range: 0.4 - 4.5` is a result. */
const rangeRightBelow = ({ box }: Cell, next: Line | undefined): Cell | undefined =>
  next?.cells.find((cell) => Math.abs(cell.box.left - box.left) < tolerances.CARD_ALIGNED && isLabelledRange(cell))

const isLabelledRange = ({ text }: Cell): boolean => RANGE_LABEL.test(text) && rangeOf(text) !== undefined

/** A result above its range in parts, also where letters of the unit are lost: `214 mgd` above `Reference range < 200 mg/dL`. */
function withUnitOfRange(cell: TypedCell, range: Cell | undefined): readonly TypedCell[] {
  if (!range) return [cell]
  const [number, unit] = [cell.words.slice(0, -1), cell.words.slice(-1)].map((words) => words.map(({ text }) => text).join(' '))
  const isMisread = cell.kind === 'text' && numberOf(number!) !== undefined && unitOfRange(unit!, range.text) !== null
  return isMisread
    ? [withKind(cellOf(cell.words.slice(0, -1)), 'value'), withKind(cellOf(cell.words.slice(-1)), 'unit')]
    : withoutUnit(cell)
}

function cardAt(
  lines: readonly TypedLine[],
  index: number,
  position: number,
  { isAnalyte, isNamed }: CardNames,
): Card | undefined {
  const { line, cells } = lines[index]!
  const value = cells[position]!
  const [previous, next] = [cells[position - 1], cells[position + 1]]
  // `Value Normal`
  const isFlagAlone = value.kind === 'flag' && previous !== undefined && VALUE_LABEL.test(previous.text)
  if (value.kind !== 'value' && !isFlagAlone) return undefined
  // `Normal 17.2`: the number is the value.
  if (flagOf(value.text) && next?.kind === 'value' && next.value !== 'word') return undefined
  const isLabelled = previous !== undefined && VALUE_LABEL.test(previous.text)
  if (continuesNumber(value, previous)) return undefined
  // `214 mgd` is the result of the block on the left, and no name.
  if (previous?.kind === 'text' && !isLabelled && !hasMisreadUnit(previous.text)) return undefined
  const reach = heightOf(value.box) * tolerances.CARD_LINE_GAP
  if (
    flagOf(value.text) &&
    (resultAbove(lines[index - 1], value, reach) || hasNameBelow(lines[index + 1], value, reach, isNamed))
  )
    return undefined
  const linesAbove = lines.slice(Math.max(0, index - LINES_MAX), index)
  const isFlagAt = (cellPosition: number) => {
    const measured = valueOfFlag(cells, cellPosition)
    const cell = cells[cellPosition]!
    const own = measured && nameAbove(linesAbove, cell, cell.box.left, reach, isNamed)
    return measured !== undefined && !(own && own.name.cell.box.left > measured.box.right)
  }
  if (isFlagAt(position)) return undefined
  const isFlagged = previous !== undefined && flagOf(previous.text) !== undefined && !belongsToPrevious(cells, position - 1)
  const rangeBefore = isLabelled ? rangeLeft(line, previous) : undefined
  const left = rangeBefore ? rangeBefore.box.left : isLabelled || isFlagged ? previous.box.left : value.box.left
  // The next block may begin slightly further left in other lines.
  const nextBlock = cells.find(
    (cell, cellPosition) =>
      cellPosition > position && ((cell.kind === 'value' && !isFlagAt(cellPosition)) || VALUE_LABEL.test(cell.text)),
  )
  const right = nextBlock ? nextBlock.box.left - tolerances.CARD_ALIGNED : Infinity
  const heading = nameAbove(linesAbove, value, left, reach, isNamed)
  if (!heading) return undefined
  const rangesBelow =
    heading.range || rangeBefore ? [] : rangeBelow(lines.slice(index + 1, index + 1 + LINES_MAX), value, left, reach, right)
  const unit = next?.kind === 'unit' ? next : unitBelow(lines[index + 1], value)
  const rangeInLine = cells.slice(position + 1).find((cell) => cell.kind === 'range' && cell.box.right < right)
  const inLine = [rangeBefore, rangeInLine].flatMap((cell) => (cell ? [{ cell, line }] : []))
  const ranges = [...(heading.range ? [heading.range] : []), ...inLine, ...rangesBelow]
  if (!unit && !ranges.length && !isAnalyte(cleanName(heading.name.cell.text))) return undefined
  const flagsBelow = findFlagsBelow(lines[index + 1], value, lines[index]!, reach)
  const flags = [...heading.name.line.cells, ...cells, ...flagsBelow.cells].filter(
    (cell) =>
      cell !== value &&
      cell.box.left >= left - tolerances.CARD_ALIGNED &&
      cell.box.left < right &&
      flagOf(cell.text) !== undefined &&
      cell.box.left > heading.name.cell.box.left - tolerances.CARD_ALIGNED,
  )
  return {
    name: heading.name.cell,
    value,
    unit: unit?.text ?? unitBehind(ranges[0]?.cell.text ?? ''),
    flag: partFlag(value.text).flag ?? (flags[0] ? flagOf(flags[0].text)! : null),
    range_lines: ranges.map(({ cell }) => cell.text),
    details: [...(unit ? [unit] : []), ...flags, ...ranges.map(({ cell }) => cell)],
    lines: [...new Set([heading.name.line, line, ...ranges.map((range) => range.line), ...flagsBelow.lines])],
  }
}

/** The labelled range in front of a labelled result: `Normal range: 4.0 - 11.0 K/uL   Your value: 5.6 K/uL`. */
const rangeLeft = ({ cells }: Line, label: Cell): Cell | undefined =>
  cells.find((cell) => cell.box.right < label.box.left && isLabelledRange(cell))

/**
 * The block of a result below its label, which stands beside the name: `Rubella Antibody  Your value` above
 * `Normal range: Immune  Immune  Normal`.
 */
function cardUnderLabel(lines: readonly TypedLine[], index: number, position: number, { isNamed }: CardNames): Card | undefined {
  const { line, cells } = lines[index]!
  const value = cells[position]!
  if (value.kind !== 'value' && !isBloodGroup(value.text)) return undefined
  const reach = heightOf(value.box) * tolerances.CARD_LINE_GAP
  const above = lines.slice(Math.max(0, index - LINES_MAX), index)
  const isLabel = ({ text, box }: Cell) => VALUE_LABEL.test(text) && Math.abs(box.left - value.box.left) < tolerances.CARD_ALIGNED
  const upper = above.findLast((typedLine) => value.box.top - typedLine.line.box.bottom < reach && typedLine.cells.some(isLabel))
  const label = upper?.cells.find(isLabel)
  const name = label && upper!.line.cells.findLast(({ box }) => box.right < label.box.left)
  if (!name || !isPossibleName(cleanName(name.text), isNamed) || looksLikeSentence(name.text)) return undefined
  const next = upper!.line.cells.find(({ text, box }) => box.left > label.box.right && flagOf(text) === undefined)
  const end = next?.box.left ?? Infinity
  const below = lines.slice(lines.indexOf(upper!) + 1)
  const nextBlock = below.findIndex(
    (typedLine) =>
      typedLine.line.box.top > value.box.bottom + reach || typedLine.cells.some(({ text }) => VALUE_LABEL.test(text)),
  )
  const own = [upper!, ...(nextBlock < 0 ? below : below.slice(0, nextBlock))]
  const cellsOfBlock = own.flatMap((typedLine) =>
    typedLine.line.cells.filter(({ box }) => box.left > name.box.left - tolerances.CARD_ALIGNED && box.left < end),
  )
  const range = cellsOfBlock.find(isLabelledRange)
  const flag = cellsOfBlock.find(({ text, box }) => box.left > value.box.right && flagOf(text) !== undefined)
  const unit = cells[position + 1]?.kind === 'unit' ? cells[position + 1]! : undefined
  const details = [label, unit, flag, range].filter((cell) => cell !== undefined)
  return {
    name,
    value,
    unit: unit?.text ?? unitBehind(range?.text ?? ''),
    flag: partFlag(value.text).flag ?? (flag ? flagOf(flag.text)! : null),
    range_lines: range ? [range.text] : [],
    details,
    lines: [
      ...new Set([
        upper!.line,
        line,
        ...own.filter((typedLine) => hasAny(typedLine.line, details)).map((typedLine) => typedLine.line),
      ]),
    ],
  }
}

const hasAny = ({ cells }: Line, details: readonly Cell[]): boolean => cells.some((cell) => details.includes(cell))

/** The flags right below a result, and their line if it has nothing else. */
function findFlagsBelow(
  next: TypedLine | undefined,
  value: TypedCell,
  upper: TypedLine,
  reach: number,
): { cells: Cell[]; lines: Line[] } {
  const own = (next?.cells ?? []).filter((cell) => flagOf(cell.text) !== undefined && resultAbove(upper, cell, reach) === value)
  const isAlone = own.length > 0 && next!.cells.every(({ text }) => flagOf(text))
  return { cells: own, lines: isAlone ? [next!.line] : [] }
}

/** The result right above a flag: `Optimal` below `82 mg/dL`. */
const resultAbove = (upper: TypedLine | undefined, { box }: Cell, reach: number): TypedCell | undefined =>
  upper && box.top - upper.line.box.bottom < reach
    ? upper.cells.find((cell) => cell.kind === 'value' && flagOf(cell.text) === undefined && overlapX(cell.box, box) > 0)
    : undefined

/** Whether a name stands below a flag, which is then that of its block: `High` above `LDL Cholesterol`. */
const hasNameBelow = (lower: TypedLine | undefined, { box }: Cell, reach: number, isNamed: (name: string) => boolean): boolean =>
  lower !== undefined &&
  lower.line.box.top - box.bottom < reach &&
  lower.line.cells.some((cell) => Math.abs(cell.box.left - box.left) < tolerances.CARD_ALIGNED && isNamed(cleanName(cell.text)))

/** The value that a word may be the flag of: `5.1 High`, `0.135 uIU/mL LOW`. Below a name of its own it is a result. */
function valueOfFlag(cells: readonly TypedCell[], position: number): TypedCell | undefined {
  const cell = cells[position]!
  if (cell.value !== 'word' || flagOf(cell.text) === undefined) return undefined
  const before = cells.slice(0, position).findLast(({ kind }) => kind !== 'unit' && kind !== 'range')
  return before?.kind === 'value' && flagOf(before.text) === undefined ? before : undefined
}

/** Whether a flag belongs to the value before it and not to the one behind it. */
const belongsToPrevious = (cells: readonly TypedCell[], index: number): boolean => {
  const [previous, next] = [cells[index - 1], cells[index + 1]]
  return (
    previous?.kind === 'value' &&
    previous.value !== 'word' &&
    next !== undefined &&
    cells[index]!.box.left - previous.box.right < next.box.left - cells[index]!.box.right &&
    !cells.slice(0, index - 1).some((cell) => flagOf(cell.text))
  )
}

const unitBelow = (next: TypedLine | undefined, value: TypedCell): TypedCell | undefined =>
  next?.cells.find(
    (cell) =>
      cell.kind === 'unit' &&
      overlapX(cell.box, value.box) > -tolerances.CARD_ALIGNED &&
      next.line.box.top - value.box.bottom < heightOf(value.box) * 1.5,
  )

interface CellInLine {
  cell: Cell
  line: Line
}

/** `Your value: 5.6` */
const isLabelledResult = (cells: readonly TypedCell[], index: number): boolean =>
  VALUE_LABEL.test(cells[index]!.text) && cells[index + 1]?.kind === 'value'

/** The name above a value, and a range between them. */
function nameAbove(
  lines: readonly TypedLine[],
  value: TypedCell,
  left: number,
  reach: number,
  isNamed: (name: string) => boolean,
): { name: CellInLine; range?: CellInLine } | undefined {
  let range: CellInLine | undefined
  let top = value.box.top
  for (const { line, cells } of lines.toReversed()) {
    // The name above a whole block is not that of the next one.
    if (top - line.box.bottom > reach || cells.some((_, index) => isLabelledResult(cells, index))) return undefined
    const wholeCell = line.cells.find((candidate) => Math.abs(candidate.box.left - left) < tolerances.CARD_ALIGNED)
    if (wholeCell && RANGE_LABEL.test(wholeCell.text) && rangeOf(wholeCell.text) && !range) {
      range = { cell: wholeCell, line }
      top = line.box.top
      continue
    }
    const cell = cells.find(
      (candidate) =>
        Math.abs(candidate.box.left - left) < tolerances.CARD_ALIGNED ||
        (overlapX(candidate.box, value.box) > 0 && candidate.box.left <= value.box.left),
    )
    if (!cell) continue
    // `pH` is a unit as well.
    const isText = cell.kind === 'text' || ((cell.kind === 'unit' || cell.kind === 'range') && isNamed(cell.text))
    if ((!isText && (cell.kind === 'unit' || cell.kind === 'range')) || RANGE_LABEL.test(cell.text)) return undefined
    if (!isText) continue
    // A name with its result behind it is a row.
    const nextCell = cells[cells.indexOf(cell) + 1]
    if (nextCell?.kind === 'value' && flagOf(nextCell.text) === undefined) return undefined
    const isName =
      isPossibleName(cleanName(cell.text), isNamed) &&
      !looksLikeSentence(cell.text) &&
      (isNamed(cell.text) || !/:\s*\S/u.test(cell.text))
    return isName ? { name: { cell, line }, ...(range && { range }) } : undefined
  }
  return undefined
}

/** The range below a value, before the next block. */
function rangeBelow(lines: readonly TypedLine[], value: TypedCell, left: number, reach: number, right: number): CellInLine[] {
  for (const { line, cells } of lines) {
    if (line.box.top - value.box.bottom > reach) return []
    // The marker of a drawn scale, read as a sign.
    if (cells.every(({ text }) => !/[\p{L}\p{N}]/u.test(text))) continue
    const own = line.cells.filter((cell) => cell.box.left > left - tolerances.CARD_ALIGNED && cell.box.left < right)
    const range = own.find((cell) => rangeOf(cell.text) && /\d|\b(?:neg|not|non)/iu.test(cell.text))
    if (range) return [{ cell: range, line }]
    // A label and its range in two cells.
    const label = own.find((cell) => RANGE_LABEL.test(cell.text))
    const rangeCell = label && own.find((cell) => cell.box.left > label.box.right)
    if (label && rangeCell && rangeOf(rangeCell.text)) return [{ cell: rangeCell, line }]
    // The range is not understood: the row gets a finding for it.
    if (label && /\d/u.test(label.text)) return [{ cell: label, line }]
    if (label && own.length === 1) continue
    // `High` right below a result is its flag.
    const isNextResult = (cell: TypedCell) =>
      cell.kind === 'value' && !(flagOf(cell.text) && overlapX(cell.box, value.box) > 0 && value.value !== 'word')
    if (cells.some((cell) => isNextResult(cell) && cell.box.left > left - tolerances.CARD_ALIGNED && cell.box.left < right))
      return []
  }
  return []
}
