// How much of a page of a PDF its pictures cover.
import { OPS } from 'pdfjs-dist/legacy/build/pdf.mjs'
import type { PDFPageProxy } from 'pdfjs-dist/types/src/display/api.js'

/** The part of a transform that an area depends on: [a b c d]. */
type Stretch = readonly [number, number, number, number]

/** A form within a form, and what is saved, no deeper than this. */
const DEPTH_MAX = 200

const PICTURES = new Set([OPS.paintImageXObject, OPS.paintInlineImageXObject, OPS.paintImageMaskXObject])

/** The area of the largest picture of a page, as a share of the page's. */
export async function pictureShare(page: PDFPageProxy): Promise<number> {
  const { fnArray, argsArray } = await page.getOperatorList()
  const { width, height } = page.getViewport({ scale: 1 })
  return largestArea(fnArray, argsArray) / (width * height)
}

/** The area of the largest picture that these operations of pdf.js paint: a picture is the unit square under the current transform. */
export function largestArea(operations: readonly number[], parameters: readonly unknown[]): number {
  let current: Stretch = [1, 0, 0, 1]
  let largest = 0
  const saved: Stretch[] = []
  const save = () => void (saved.length < DEPTH_MAX && saved.push(current))
  const restore = () => void (current = saved.pop() ?? current)
  for (const [index, operation] of operations.entries()) {
    if (operation === OPS.save) save()
    else if (operation === OPS.restore || operation === OPS.paintFormXObjectEnd) restore()
    else if (operation === OPS.transform) current = stretched(current, parameters[index])
    else if (operation === OPS.paintFormXObjectBegin) {
      save()
      current = stretched(current, (parameters[index] as unknown[])[0])
    } else if (PICTURES.has(operation)) largest = Math.max(largest, Math.abs(current[0] * current[3] - current[1] * current[2]))
  }
  return largest
}

function stretched([a, b, c, d]: Stretch, by: unknown): Stretch {
  if (by === null || typeof by !== 'object') return [a, b, c, d]
  const [e, f, g, h] = Array.from(by as ArrayLike<number>)
  return [a * e! + c * f!, b * e! + d * f!, a * g! + c * h!, b * g! + d * h!]
}
