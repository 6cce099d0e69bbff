// Where the paper is in a photo: the corners of the bright area, if it has four straight sides.
import { shrunk, thresholdOf, type Picture } from './picture.ts'
import type { Corners, Point } from './projection.ts'
import { hullOf } from './text-boxes.ts'

/** Pixels on the longer side of what is looked at: a corner is found within a thousandth of the picture. */
const SIDE = 512
/** Of the picture: less is a card or a window on it, more has no edges to go by. */
const [AREA_MIN, AREA_MAX] = [0.3, 0.985]
/** Of the area of the paper: how well four corners describe it. */
const FIT_MIN = 0.96
/** Of what lies around the paper: more that is as bright is paper as well, cut off by a line of a scanner. */
const BRIGHT_AROUND_MAX = 0.5

/** The corners of the paper in a picture; undefined if there are no clear ones. */
export function cornersOfPaper(picture: Picture): Corners | undefined {
  const scale = Math.min(1, SIDE / Math.max(picture.width, picture.height))
  const small = shrunk(picture, Math.round(picture.width * scale), Math.round(picture.height * scale))
  const paper = largestArea(small)
  const hull = hullOf(outline(paper, small.width))
  if (hull.length < 4) return undefined
  const most = (weight: (point: Point) => number): Point =>
    hull.reduce((best, point) => (weight(point) > weight(best) ? point : best))
  const corners: Corners = [most(([x, y]) => -x - y), most(([x, y]) => x - y), most(([x, y]) => x + y), most(([x, y]) => y - x)]
  const [area, frame] = [areaOf(corners), small.width * small.height]
  if (area < frame * AREA_MIN || area > frame * AREA_MAX || area < areaOf(hull) * FIT_MIN) return undefined
  if (brightAround(small, corners) > BRIGHT_AROUND_MAX) return undefined
  const [right, down] = [picture.width / small.width, picture.height / small.height]
  return corners.map(([x, y]): Point => [x * right, y * down]) as unknown as Corners
}

/** Which share of the pixels outside these corners is bright. */
function brightAround({ width, height, pixels }: Picture, corners: Corners): number {
  const threshold = thresholdOf(pixels)
  let [bright, count] = [0, 0]
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      if (isWithin([x + 0.5, y + 0.5], corners)) continue
      count++
      if (pixels[y * width + x]! >= threshold) bright++
    }
  return count ? bright / count : 0
}

const isWithin = ([x, y]: Point, corners: Corners): boolean =>
  corners.every(([fromX, fromY], index) => {
    const [toX, toY] = corners[(index + 1) % 4]!
    return (toX - fromX) * (y - fromY) - (toY - fromY) * (x - fromX) >= 0
  })

/** Which pixels belong to the largest connected bright area: 1 for those. */
function largestArea({ width, height, pixels }: Picture): Uint8Array {
  const threshold = thresholdOf(pixels)
  const marks = new Int32Array(pixels.length)
  // Each pixel is on it once at most.
  const stack = new Int32Array(pixels.length)
  let [best, bestCount, mark, depth] = [0, 0, 0, 0]
  for (let start = 0; start < pixels.length; start++) {
    if (marks[start] || pixels[start]! < threshold) continue
    marks[start] = ++mark
    stack[depth++] = start
    let count = 0
    const visit = (next: number) => {
      if (marks[next] || pixels[next]! < threshold) return
      marks[next] = mark
      stack[depth++] = next
    }
    while (depth) {
      const index = stack[--depth]!
      count++
      const x = index % width
      if (x > 0) visit(index - 1)
      if (x < width - 1) visit(index + 1)
      if (index >= width) visit(index - width)
      if (index < width * (height - 1)) visit(index + width)
    }
    if (count > bestCount) [best, bestCount] = [mark, count]
  }
  return Uint8Array.from(marks, (value) => Number(best > 0 && value === best))
}

/** The outermost corners of the pixels of each row. */
function outline(area: Uint8Array, width: number): Point[] {
  const points: Point[] = []
  for (let start = 0, y = 0; start < area.length; start += width, y++) {
    const row = area.subarray(start, start + width)
    const [left, right] = [row.indexOf(1), row.lastIndexOf(1) + 1]
    if (left >= 0) points.push([left, y], [right, y], [left, y + 1], [right, y + 1])
  }
  return points
}

/** Of a polygon (the shoelace formula). */
export const areaOf = (points: readonly Point[]): number =>
  Math.abs(
    points.reduce((sum, [x, y], index) => {
      const [nextX, nextY] = points[(index + 1) % points.length]!
      return sum + x * nextY - nextX * y
    }, 0),
  ) / 2
