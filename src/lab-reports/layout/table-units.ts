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
const OVER = 0.5
/** Fewer texts do not show where a column begins. */
const TEXTS_MIN = 2

export const isNumber = (text: string): boolean => {
  const kind = valueKind(text)
  return kind !== undefined && kind !== 'word' && !isUnit(text)
}

export const isUnits = ({ names }: Pick<NamedColumn, 'names'>): boolean =>
  columnKind(
    names
      .toSorted((one, other) => one.box.top - other.box.top)
      .map(textOf)
      .join(' '),
  ) === 'unit'

/**
 * Parts texts of a number and its unit below the name of units and that of the column before it, where all these numbers end before all
 * units begin and nothing else stands in the column of the numbers.
 * @param columns the columns by their names alone
 */
export function partNumbersFromUnits(columns: readonly NamedColumn[], body: readonly { line: Line; runs: Run[] }[]): void {
  const sorted = columns.toSorted((one, other) => one.left - other.left)
  for (const [at, units] of sorted.entries()) {
    const before = sorted[at - 1]
    if (before && isUnits(units)) partBetween(before, units, sorted[at + 1], body)
  }
}

function partBetween(
  before: NamedColumn,
  units: NamedColumn,
  behind: NamedColumn | undefined,
  body: readonly { line: Line; runs: Run[] }[],
): void {
  const parted = new Map<Run, [Run, Run]>()
  for (const { runs } of body)
    for (const [at, run] of runs.entries()) {
      const { left, right } = run.box
      const isBetween = left > before.left && right > before.right && (!behind || right < behind.left)
      const isAlone = runs.every((other, index) => index === at || other.box.right < before.left || other.box.left > right)
      const parts = runs.length > 1 && isBetween && isAlone ? numberAndUnit(run) : undefined
      if (parts) parted.set(run, parts)
    }
  const [ends, begins] = [0, 1].map((side) =>
    [...parted.values()].map((parts) => (side ? parts[1]!.box.left : parts[0]!.box.right)),
  )
  if (parted.size < TEXTS_MIN || Math.max(...ends!) > Math.min(...begins!) + OVER) return
  for (const one of body) one.runs = one.runs.flatMap((run) => parted.get(run) ?? [run])
}

function numberAndUnit({ words }: Run): [Run, Run] | undefined {
  for (let at = 1; at < words.length; at++) {
    const [number, unit] = [runOf(words.slice(0, at)), runOf(words.slice(at))]
    if (isNumber(textOf(number)) && isUnit(textOf(unit))) return [number, unit]
  }
  return undefined
}
