// Rows of photos of paper that is not flat: results stand above or below their names, further with each row, at last next to other names.
import { type Box, centerY, heightOf, type PageText, type Word } from '../pages/page.ts'
import type { Line } from './table-cells.ts'
import { type Column, columnsOf } from './headers.ts'
import { nearestColumn, splitTables } from './regions.ts'
import * as tolerances from './tolerances.ts'

/** Fewer rows do not show how a column runs. */
const PAIRS_MIN = 5
/** More columns are not a table of results. */
const COLUMNS_MAX = 20
/** More texts of a column are not a table of results on one page. */
const TEXTS_MAX = 150
/** Names without a result, as headings, and results without a name are passed over, as many as this between two rows. */
const SKIPPED_MAX = 4

/** How far the texts of a column stand below their names, by the height at which they stand. */
interface Drift {
  column: Column
  points: { y: number; offset: number }[]
}

/**
 * The page with the texts of each column at the height of the names of its table. Rows are followed from the header on, in the order of both columns,
 * so that a column that runs off by more than a row is known by its small steps. Other pages stay as they are.
 */
export function withLevelRows(page: PageText, lines: readonly Line[]): PageText {
  const header = lines.find((line) => columnsOf(line)?.some(({ kind }) => kind === 'value'))
  const columns = header && columnsOf(header)?.toSorted((a, b) => a.box.left - b.box.left)
  if (!columns || columns.length > COLUMNS_MAX) return page
  const wordsBelow = page.words.filter(({ box }) => box.top > header.box.bottom)
  const byColumn = Map.groupBy(wordsBelow, ({ box }) => nearestColumn(box, columns))
  const drifts = splitTables(columns).flatMap(([first, ...others]) => {
    const [names, ...texts] = [first, ...others].map((column) => heightsOf(byColumn.get(column) ?? []))
    if (isFlat([names!, ...texts])) return []
    return others.flatMap((column, index): Drift[] => {
      const start = { name: centerY(first!.box), text: centerY(column.box) }
      const points = findDrift(names!, texts[index]!, start)
      return points ? [{ column, points }] : []
    })
  })
  if (!drifts.length) return page
  const offsetOf = (box: Box, isLevel: boolean): number => {
    const column = box.top > header.box.bottom ? nearestColumn(box, columns) : undefined
    const drift = drifts.find((item) => item.column === column)
    return drift
      ? offsetAt(isLevel ? drift.points.map(({ y, offset }) => ({ y: y - offset, offset })) : drift.points, centerY(box))
      : 0
  }
  const level = (box: Box): Box => moveDown(box, -offsetOf(box, false))
  const words = page.words.map((word): Word => ({ ...word, box: level(word.box) }))
  const boxes = { ...(page.unread && { unread: page.unread.map(level) }), ...(page.ink && { ink: page.ink.map(level) }) }
  const toOriginal = (box: Box): Box => moveDown(box, offsetOf(box, true))
  const { width, height, place } = page.drawnPage ?? { width: page.width, height: page.height, place: (box: Box) => box }
  return { ...page, ...boxes, words, drawnPage: { width, height, place: (box) => place(toOriginal(box)) } }
}

const moveDown = (box: Box, distance: number): Box => ({ ...box, top: box.top + distance, bottom: box.bottom + distance })

/** The heights of the texts of a column, from top to bottom. */
function heightsOf(words: readonly Word[]): number[] {
  const heights: { y: number; height: number }[] = []
  for (const { box } of words.toSorted((a, b) => centerY(a.box) - centerY(b.box))) {
    const last = heights.at(-1)
    if (!last || centerY(box) - last.y > Math.min(last.height, heightOf(box)) / 2)
      heights.push({ y: centerY(box), height: heightOf(box) })
  }
  return heights.slice(0, TEXTS_MAX).map(({ y }) => y)
}

/**
 * Whether the texts of two columns stand in the same lines: on paper that is not flat each column drifts from all others. Names and ranges on
 * several lines stand above and below their result, so that two columns tell enough.
 */
const isFlat = (columns: readonly (readonly number[])[]): boolean =>
  columns.some((heights, index) => {
    const reach = pitchOf(heights) * tolerances.LEVEL_MAX
    const isInLine = (otherHeights: readonly number[]) =>
      heights.filter((y) => otherHeights.some((otherY) => Math.abs(otherY - y) < reach)).length >=
      heights.length * tolerances.LEVEL_SHARE
    return (
      heights.length >= PAIRS_MIN && columns.some((otherHeights, otherIndex) => otherIndex !== index && isInLine(otherHeights))
    )
  })

/** The usual distance of texts; 0 of a single one. */
function pitchOf(heights: readonly number[]): number {
  const gaps = heights.slice(1).map((y, index) => y - heights[index]!)
  return gaps.toSorted((a, b) => a - b)[gaps.length >> 1] ?? 0
}

interface Step {
  /** How much speaks for the way up to here. */
  score: number
  offset: number
  /** By how much the offset changes from row to row. */
  change: number
  y: number
  count: number
  previous: Step | undefined
}

/** The way through both columns for which most speaks; undefined if texts do not drift from their names. */
function findDrift(
  names: readonly number[],
  texts: readonly number[],
  start: { name: number; text: number },
): Drift['points'] | undefined {
  const pitch = pitchOf(names)
  if (!pitch || texts.length < PAIRS_MIN) return undefined
  const skip = pitch * tolerances.SKIP_COST
  const first = start.text - start.name
  const steps: (Step | undefined)[][] = names.map(() => [])
  let best: Step | undefined
  for (const [i, name] of names.entries())
    for (const [j, y] of texts.entries()) {
      const offset = y - name
      if (Math.abs(offset) > pitch * tolerances.DRIFT_MAX) continue
      const isFirst = Math.abs(offset - first) < pitch * tolerances.DRIFT_BEND_MAX && i <= SKIPPED_MAX && j <= SKIPPED_MAX
      let step: Step | undefined = isFirst
        ? { score: skip * (2 - i - j) - Math.abs(offset - first), offset, change: 0, y, count: 1, previous: undefined }
        : undefined
      for (let a = 1; a <= SKIPPED_MAX + 1; a++)
        for (let b = 1; b <= SKIPPED_MAX + 1; b++) {
          const previousStep = steps[i - a]?.[j - b]
          if (!previousStep || name - names[i - a]! > pitch * tolerances.ROW_GAP_MAX) continue
          const move = offset - previousStep.offset
          const bend = Math.abs(move - previousStep.change * a)
          if (bend > pitch * tolerances.DRIFT_BEND_MAX) continue
          const score = previousStep.score + skip * (2 - (a - 1) - (b - 1)) - bend
          if (!step || score > step.score)
            step = { score, offset, change: move / a, y, count: previousStep.count + 1, previous: previousStep }
        }
      steps[i]![j] = step
      if (step && (!best || step.score > best.score)) best = step
    }
  if (!best || best.count < PAIRS_MIN) return undefined
  const points: Drift['points'] = []
  for (let step: Step | undefined = best; step; step = step.previous) points.unshift({ y: step.y, offset: step.offset })
  const drift = Math.max(...points.map(({ offset }) => Math.abs(offset - first)))
  return drift > pitch * tolerances.DRIFT_MIN ? points : undefined
}

/** Between two rows the offset changes evenly; above the first it is that of the first. Below the last one nothing is known. */
function offsetAt(points: Drift['points'], y: number): number {
  const next = points.findIndex((item) => item.y >= y)
  if (next === 0) return points[0]!.offset
  if (next < 0) return y - points.at(-1)!.y < (points.at(-1)!.y - points.at(-2)!.y) / 2 ? points.at(-1)!.offset : 0
  const [upper, lower] = [points[next - 1]!, points[next]!]
  return upper.offset + ((lower.offset - upper.offset) * (y - upper.y)) / (lower.y - upper.y)
}
