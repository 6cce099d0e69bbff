// Lines that belong to the row above them: the rest of its name, and further lines of its range.
import { boxAround, centerX, heightOf } from '../pages/page.ts'
import type { TypedCell } from './cells.ts'
import { nearestColumn } from './columns.ts'
import type { Column } from './headers.ts'
import type { Line } from './lines.ts'
import { cleanName } from './names.ts'
import { rangeOf } from '../../lab-values/ranges.ts'
import { joinedText, joinsName } from './row-parts.ts'
import type { Row } from './row.ts'
import { unitBehind } from '../../lab-values/units.ts'

const RANGE_LABEL =
  /^(?:bio(?:logical)?\.?\s*)?(?:ref(?:erence)?\.?|normal|optimal|expected|desirable)\s*(?:range|interval|values?|zone|int\.?)?[.\s]*:?$/iu

/** Adds a line to the row above if it belongs to it; false if it does not. */
export function continuesRow(
  last: Row,
  line: Line,
  cells: readonly TypedCell[],
  columns: readonly Column[] | null,
  isNamed: (name: string) => boolean,
): boolean {
  const gap = line.box.top - last.box.bottom
  if (gap > heightOf(line.box) * 1.2) return false
  if (columns && cells.length) {
    const kindOf = (cell: TypedCell) => nearestColumn(cell.box, columns)?.kind
    const ranges = cells.filter((cell) => kindOf(cell) === 'range')
    const others = cells.filter((cell) => kindOf(cell) !== 'range')
    // Beside it may stand the method in brackets, or the rest of the name.
    if (
      ranges.length &&
      !isHeadingBesideRanges(line, ranges, columns) &&
      others.every((cell) => kindOf(cell) === 'name' && cell.kind === 'text')
    ) {
      last.range_lines.push(joinedText(ranges))
      const text = joinedText(others)
      if (text && (joinsName(last.name, text, isNamed) || completesName(last, text, isNamed)))
        last.name = cleanName(`${last.name} ${text}`)
      last.box = boxAround([last.box, line.box])
      return true
    }
  }
  // Below the name: `Bio. Ref. Interval. :`, and the range in the same line or the next.
  const lineText = line.cells.map((cell) => cell.text).join(' ')
  if (line.cells.length === 1 && !last.range_lines.length) {
    const isRange = rangeOf(lineText) !== undefined && /\d/u.test(lineText)
    if (isRange || RANGE_LABEL.test(lineText)) {
      if (isRange) last.range_lines.push(lineText)
      last.unit ??= unitBehind(lineText)
      last.box = boxAround([last.box, line.box])
      return true
    }
  }
  if (!columns && cells.length === 1 && cells[0]!.kind === 'range') {
    last.range_lines.push(cells[0]!.text)
    last.box = boxAround([last.box, line.box])
    return true
  }
  const nameCells = columns ? cells.filter((cell) => ['name', undefined].includes(nearestColumn(cell.box, columns)?.kind)) : cells
  const text = joinedText(nameCells)
  if (
    cells.length === 1 &&
    nameCells.length === 1 &&
    line.box.left < last.value_box.left &&
    gap < heightOf(line.box) * 0.7 &&
    (joinsName(last.name, text, isNamed) || completesName(last, text, isNamed)) &&
    text.length < 40 &&
    (/[,/(–-]$/u.test(last.name) || !/^\(?(?:method|serum|plasma|calculated|by )/iu.test(text))
  ) {
    last.name = cleanName(`${last.name} ${text}`)
    last.box = boxAround([last.box, line.box])
    return true
  }
  return false
}

/** `Phosphatase` below `Alkaline`, which is no name of its own, nor under the heading of its panel: that may be `Bilirubin` for `Direct`. */
const completesName = ({ name, panel }: Row, rest: string, isNamed: (name: string) => boolean): boolean =>
  panel !== null && !isNamed(name) && !isNamed(`${panel} ${name}`) && isNamed(`${name} ${rest}`)

/** Where further lines of a range begin, end or have their middle, in points aside of the name of the column. */
const RANGE_ALIGNED = 12
/** Words of ranges that have no number: `Adult`, `Male:`, `Not detected`. */
const RANGE_WORDS =
  /[\d<>≤≥:=]|^\(|^(?:male|female|men|women|adult|child|pregnan|follic|luteal|ovulat|post|pre|neg|pos|non|not|normal|nil|none|absent|clear|deficien|insufficien|sufficien|optimal|desirable|borderline|high|low|therapeutic|toxic)/iu

/** A text alone below a row that stands as no range does is the heading of the next rows, also where ranges come before names. */
function isHeadingBesideRanges(line: Line, ranges: readonly TypedCell[], columns: readonly Column[]): boolean {
  const [cell, ...others] = ranges
  if (
    others.length ||
    line.cells.length > 1 ||
    cell!.kind !== 'text' ||
    RANGE_WORDS.test(cell!.text) ||
    /^\p{Ll}/u.test(cell!.text)
  )
    return false
  const column = nearestColumn(cell!.box, columns)!
  const name = columns.find(({ kind }) => kind === 'name')
  if (name && column.box.left < name.box.left) return true
  const distances = [column.box.left - cell!.box.left, column.box.right - cell!.box.right, centerX(column.box) - centerX(cell!.box)]
  return distances.every((distance) => Math.abs(distance) > RANGE_ALIGNED)
}
