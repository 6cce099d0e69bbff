// Numbers and the units of the next column where both stand so close that they seem one text: `41` and `umol/L`.
import { columnKind } from './headers.ts'
import type { Band, Line } from './lines.ts'
import { runOf, textOf, type Run } from './table-runs.ts'
import { isUnit } from '../../lab-values/units.ts'
import { valueKind } from '../../lab-values/values.ts'

/** The name of a column, and how far it reaches. */
export interface NamedColumn extends Band {
  names: readonly Run[]
}

/** Points by which numbers may reach over the begin of units. */
const NUMBER_OVER_UNIT = 0.5
/** Fewer texts do not show where a column begins. */
const TEXTS_MIN = 2

export const isNumber = (text: string): boolean => {
  const kind = valueKind(text)
  return kind !== undefined && kind !== 'word' && !isUnit(text)
}

export const isUnits = ({ names }: Pick<NamedColumn, 'names'>): boolean =>
  columnKind(
    names
      .toSorted((a, b) => a.box.top - b.box.top)
      .map(textOf)
      .join(' '),
  ) === 'unit'

/**
 * Parts texts of a number and its unit below the name of units and that of the column before it, where all these numbers end before all
 * units begin and nothing else stands in the column of the numbers.
 * @param columns the columns by their names alone
 */
export function splitNumbersFromUnits(columns: readonly NamedColumn[], body: readonly { line: Line; runs: Run[] }[]): void {
  const sorted = columns.toSorted((a, b) => a.left - b.left)
  for (const [index, units] of sorted.entries()) {
    const numbers = sorted[index - 1]
    if (numbers && isUnits(units)) splitBetween(numbers, units, sorted[index + 1], body)
  }
}

function splitBetween(
  numbers: NamedColumn,
  units: NamedColumn,
  nextColumn: NamedColumn | undefined,
  body: readonly { line: Line; runs: Run[] }[],
): void {
  const splitRuns = new Map<Run, [Run, Run]>()
  for (const { runs } of body)
    for (const [position, run] of runs.entries()) {
      const { left, right } = run.box
      const isBetween = left > numbers.left && right > numbers.right && (!nextColumn || right < nextColumn.left)
      const isAlone = runs.every((other, index) => index === position || other.box.right < numbers.left || other.box.left > right)
      const parts = runs.length > 1 && isBetween && isAlone ? numberAndUnit(run) : undefined
      if (parts) splitRuns.set(run, parts)
    }
  const [ends, begins] = [0, 1].map((side) =>
    [...splitRuns.values()].map((parts) => (side ? parts[1]!.box.left : parts[0]!.box.right)),
  )
  if (splitRuns.size < TEXTS_MIN || Math.max(...ends!) > Math.min(...begins!) + NUMBER_OVER_UNIT) return
  for (const one of body) one.runs = one.runs.flatMap((run) => splitRuns.get(run) ?? [run])
}

function numberAndUnit({ words }: Run): [Run, Run] | undefined {
  for (let index = 1; index < words.length; index++) {
    const [number, unit] = [runOf(words.slice(0, index)), runOf(words.slice(index))]
    if (isNumber(textOf(number)) && isUnit(textOf(unit))) return [number, unit]
  }
  return undefined
}
