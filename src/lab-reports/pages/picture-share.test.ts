import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPS } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { largestArea } from './picture-share.ts'

test('the area of a picture is that of the unit square under the transforms around it', () => {
  const scale = (factor: number) => [factor, 0, 0, factor, 7, 7]
  const operations: [operation: number, parameters: unknown][] = [
    [OPS.save, null],
    [OPS.transform, [0, 10, -20, 0, 0, 0]],
    [OPS.paintImageXObject, ['a', 1, 1]],
    [OPS.restore, null],
    [OPS.paintFormXObjectBegin, [scale(3), null]],
    [OPS.transform, scale(5)],
    [OPS.paintInlineImageXObject, [{}]],
    [OPS.paintFormXObjectEnd, []],
    [OPS.paintImageMaskXObject, [{}]],
  ]
  const area = (count: number) =>
    largestArea(
      operations.slice(0, count).map(([operation]) => operation),
      operations.map(([, of]) => of),
    )
  assert.equal(area(2), 0)
  assert.equal(area(3), 200)
  assert.equal(area(9), 225)
  // What is not balanced, or not saved, does no harm.
  assert.equal(largestArea([OPS.restore, OPS.transform, OPS.paintImageXObject], [null, null, null]), 1)
})
