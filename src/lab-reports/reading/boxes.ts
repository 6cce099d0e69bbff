// How boxes of a page lie to each other.
import { heightOf, overlapX, overlapY, type Box } from '../pages/page.ts'

/** Of the smaller height: what overlaps less stands in another line. */
const SAME_LINE = 0.5

export const areInLine = (one: Box, other: Box): boolean =>
  overlapY(one, other) > Math.min(heightOf(one), heightOf(other)) * SAME_LINE

export const boxesOverlap = (one: Box, other: Box): boolean => areInLine(one, other) && overlapX(one, other) > 0
