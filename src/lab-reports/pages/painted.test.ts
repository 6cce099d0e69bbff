import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPS } from 'pdfjs-dist/legacy/build/pdf.mjs'
import type { Box } from './page.ts'
import { coveredShare, type Matrix, readPaintedParts, withoutFolds } from './painted.ts'

const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0]
const areaOf = ({ left, top, right, bottom }: Box) => (right - left) * (bottom - top)
type Operation = [operation: number, parameters: unknown]
const run = (operations: Operation[], view = IDENTITY) =>
  readPaintedParts(
    operations.map(([operation]) => operation),
    operations.map(([, parameters]) => parameters),
    view,
  )

test('a picture is where the unit square is under the transforms around it', () => {
  const scale = (factor: number) => [factor, 0, 0, factor, 7, 7]
  const operations: Operation[] = [
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
  assert.deepEqual(run(operations).pictures.map(areaOf), [200, 225, 1])
  assert.deepEqual(run(operations.slice(0, 3), [1, 0, 0, -1, 0, 100]).pictures, [{ left: -20, right: 0, top: 90, bottom: 100 }])
  // What is not balanced, or not saved, does no harm.
  assert.deepEqual(run([OPS.restore, OPS.transform, OPS.paintImageXObject].map((item) => [item, null])).pictures.map(areaOf), [1])
})

test('pictures that are painted together are as many', () => {
  const index = (y: number) => [100, 0, 0, 10, 0, y]
  const { pictures } = run([
    [OPS.paintImageMaskXObjectGroup, [[{ transform: index(0) }, { transform: index(10) }]]],
    [OPS.paintInlineImageXObjectGroup, [{}, [{ transform: index(20) }]]],
    [OPS.paintImageXObjectRepeat, ['a', 100, 10, Float32Array.of(0, 30, 0, 40)]],
    [OPS.paintImageMaskXObjectRepeat, [{}, 100, 0, 0, 10, Float32Array.of(0, 50)]],
  ])
  assert.deepEqual(
    pictures.map(({ top }) => top),
    [0, 10, 20, 30, 40, 50],
  )
  assert.equal(coveredShare(pictures, { width: 100, height: 100 }), 0.6)
})

test('the share that pictures cover counts overlaps once and nothing beyond the page', () => {
  const page = { width: 600, height: 600 }
  assert.equal(coveredShare([], page), 0)
  const half = { left: -100, right: 900, top: 300, bottom: 900 }
  assert.equal(coveredShare([half, half, { left: 0, right: 10, top: 590, bottom: 600 }], page), 0.5)
})

test('outlines are counted by their curves, and invalid paths do no harm', () => {
  const path = Float32Array.of(0, 1, 1, 2, 1, 2, 3, 4, 5, 6, 1, 9, 9, 3, 1, 2, 3, 4, 4)
  assert.equal(run([[OPS.constructPath, [22, [path], null]]]).curves, 2)
  for (const wrong of [null, [], [22, null], [22, [null]], [22, [Float32Array.of(9, 9, 9)]]])
    assert.equal(run([[OPS.constructPath, wrong]]).curves, 0)
})

test('the dots and dashes of a line are one line, and marks at other heights are their own', () => {
  const dot = (left: number, top: number, long = 0.75): Operation => [
    OPS.constructPath,
    [OPS.fill, [Float32Array.of(0, left, top, 1, left + long, top, 1, left + long, top + 0.75, 1, left, top + 0.75, 4)], null],
  ]
  const row = (top: number) => Array.from({ length: 400 }, (_, index) => dot(30 + index * 1.5, top))
  const column = Array.from({ length: 9 }, (_, index) => dot(30, 300 + index * 3))
  const { lines } = run([...row(100), ...row(120), ...column, dot(30, 400, 5), dot(38, 400, 5), dot(60, 400, 5)])
  assert.deepEqual(
    lines.map(({ left, right, top, bottom }) => [left, right, top, bottom]),
    [
      [30, 629.25, 100, 100.75],
      [30, 629.25, 120, 120.75],
      [30, 30.75, 300, 324.75],
      [30, 43, 400, 400.75],
      [60, 65, 400, 400.75],
    ],
  )
})

test('a line that runs through words is a fold of the paper, and one between words or below a word is drawn', () => {
  const words = [40, 120, 200].map((left) => ({
    text: 'Sodium',
    confidence: 1,
    box: { left, right: left + 50, top: 100, bottom: 110 },
  }))
  const line = (top: number) => ({ left: 30, right: 400, top, bottom: top + 0.6 })
  const upright = { left: 60, right: 60.6, top: 50, bottom: 300 }
  const pieces = [35, 115, 195].map((left) => ({ ...line(105), left, right: left + 60 }))
  assert.deepEqual(withoutFolds([...pieces, line(96)], words), [line(96)])
  assert.deepEqual(withoutFolds([line(96), line(105), line(109.5), line(115), upright], words), [
    line(96),
    line(109.5),
    line(115),
    upright,
  ])
})
