// How boxes of a page lie to each other.
import { heightOf, overlapX, overlapY, type Box } from '../pages/page.ts'

/** Of the smaller height: what overlaps less stands in another line. */
const SAME_LINE = 0.5

export const areInLine = (a: Box, b: Box): boolean =>
  overlapY(a, b) > Math.min(heightOf(a), heightOf(b)) * SAME_LINE

export const boxesOverlap = (a: Box, b: Box): boolean => areInLine(a, b) && overlapX(a, b) > 0
