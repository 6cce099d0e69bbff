// Results that stand so close to their names that both seem one text, in tables without names of columns.
import { numberOf } from '../../lab-values/values.ts'
import type { Word } from '../pages/page.ts'
import { cellOf, type Line } from './lines.ts'

/** Points: numbers of one column begin, or end, at places that differ less. */
const SAME_EDGE = 2.5
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
      (edge) => numbers.filter((other) => Math.abs(other[edge] - box[edge]) < SAME_EDGE).length >= LINES_MIN,
    )
  return lines.map((line) => {
    const [first, ...rest] = line.cells
    const [number, ...name] = first ? first.words.toReversed() : []
    if (!rest.length || !name.length || numberOf(number!.text) === undefined || !isInColumn(number!)) return line
    const cells = [cellOf(name.toReversed()), cellOf([number!])]
    return isNamed(cells[0]!.text) ? { ...line, cells: [...cells, ...rest] } : line
  })
}
