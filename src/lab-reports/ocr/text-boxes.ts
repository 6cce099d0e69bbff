// Boxes of lines of text in a picture, and the strip of pixels of each.
import { type Engine, LINE_HEIGHT, type TextMap } from './engine.ts'
import { type Picture, shrink, warp } from './picture.ts'
import type { Point, Projection } from './projection.ts'

/** A rectangle around its center; `angle` is that of its longer side, in radians from -π/2 to π/2. */
export interface TextBox {
  x: number
  y: number
  /** Along the longer side. */
  length: number
  thickness: number
  angle: number
}

/** Above it a pixel belongs to a text. */
const PIXEL_MIN = 0.3
/** The mean over a text. */
const TEXT_MIN = 0.5
/** Fewer pixels are dirt. */
const PIXELS_MIN = 8
const THICKNESS_MIN = 2
/** A page has a few hundred; more are the noise of a hostile picture. */
const BOXES_MAX = 3_000
/** The detector marks the middle of a text: how far the text goes beyond it, by area and perimeter. Source: PP-OCR. */
const GROWTH = 1.6

/** The texts of a map, from top to bottom as their uppermost pixels are. */
export function textBoxes({ width, height, values }: TextMap): TextBox[] {
  const seen = new Uint8Array(values.length)
  const stack: number[] = []
  const boxes: TextBox[] = []
  for (let start = 0; start < values.length && boxes.length < BOXES_MAX; start++) {
    if (seen[start] || values[start]! <= PIXEL_MIN) continue
    let [sum, count] = [0, 0]
    // The outermost pixels of each row decide about the shape.
    const rows = new Map<number, [left: number, right: number]>()
    seen[start] = 1
    stack.push(start)
    while (stack.length) {
      const index = stack.pop()!
      const [x, y] = [index % width, Math.trunc(index / width)]
      sum += values[index]!
      count++
      const row = rows.get(y)
      if (!row) rows.set(y, [x, x])
      else if (x < row[0]) row[0] = x
      else if (x > row[1]) row[1] = x
      for (let v = Math.max(0, y - 1); v <= Math.min(height - 1, y + 1); v++)
        for (let u = Math.max(0, x - 1); u <= Math.min(width - 1, x + 1); u++) {
          const next = v * width + u
          if (seen[next] || values[next]! <= PIXEL_MIN) continue
          seen[next] = 1
          stack.push(next)
        }
    }
    if (count < PIXELS_MIN || sum / count < TEXT_MIN) continue
    const box = smallestBox(hullOf([...rows].flatMap(([y, [left, right]]) => rectangleCorners(left, right + 1, y, y + 1))))
    if (box.thickness >= THICKNESS_MIN) boxes.push(growBox(box))
  }
  return boxes
}

const rectangleCorners = (left: number, right: number, top: number, bottom: number): Point[] => [
  [left, top],
  [right, top],
  [left, bottom],
  [right, bottom],
]

function growBox(box: TextBox): TextBox {
  const by = (2 * GROWTH * box.length * box.thickness) / (2 * (box.length + box.thickness))
  return { ...box, length: box.length + by, thickness: box.thickness + by }
}

/** The convex hull, by Andrew's monotone chain. */
export function hullOf(points: readonly Point[]): Point[] {
  const sorted = points.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])
  const half = (sequence: readonly Point[]): Point[] => {
    const chain: Point[] = []
    for (const point of sequence) {
      while (chain.length > 1 && crossProduct(chain.at(-2)!, chain.at(-1)!, point) <= 0) chain.pop()
      chain.push(point)
    }
    return chain.slice(0, -1)
  }
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.toReversed())]
}

const crossProduct = (a: Point, b: Point, c: Point): number => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

/** The smallest rectangle around a convex hull: one of its sides lies on one of the hull's. */
function smallestBox(hull: readonly Point[]): TextBox {
  let best: TextBox | undefined
  for (const [index, [x, y]] of hull.entries()) {
    const [nextX, nextY] = hull[(index + 1) % hull.length]!
    const angle = Math.atan2(nextY - y, nextX - x)
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity]
    for (const [px, py] of hull) {
      const [along, across] = [px * cos + py * sin, py * cos - px * sin]
      left = Math.min(left, along)
      right = Math.max(right, along)
      top = Math.min(top, across)
      bottom = Math.max(bottom, across)
    }
    const [along, across] = [(left + right) / 2, (top + bottom) / 2]
    const isLong = right - left >= bottom - top
    const box = {
      x: along * cos - across * sin,
      y: along * sin + across * cos,
      length: Math.max(right - left, bottom - top),
      thickness: Math.min(right - left, bottom - top),
      angle: normal(isLong ? angle : angle + Math.PI / 2),
    }
    if (!best || box.length * box.thickness < best.length * best.thickness) best = box
  }
  return best ?? { x: 0, y: 0, length: 0, thickness: 0, angle: 0 }
}

/** From -π/2 to π/2. */
const normal = (angle: number): number => angle - Math.PI * Math.round(angle / Math.PI)

/** Longer lines are cut off after this many heights; a line over a whole page has 60. */
export const ASPECT_MAX = 80

/** The texts of a picture, seen with a longer side of `side` pixels, in pixels of the picture. */
export async function detect(ocr: Engine, picture: Picture, side: number): Promise<TextBox[]> {
  const scale = Math.min(1, side / Math.max(picture.width, picture.height))
  const multiple = (length: number) => Math.max(32, Math.round((length * scale) / 32) * 32)
  const [width, height] = [multiple(picture.width), multiple(picture.height)]
  const seen =
    scale < 1
      ? shrink(picture, width, height)
      : warp(picture, [picture.width / width, 0, 0, 0, picture.height / height, 0, 0, 0, 1], width, height)
  const [right, down] = [picture.width / width, picture.height / height]
  return textBoxes(await ocr.detect(seen)).map((box) => ({
    ...box,
    x: box.x * right,
    y: box.y * down,
    length: box.length * (Math.abs(box.angle) < Math.PI / 4 ? right : down),
    thickness: box.thickness * (Math.abs(box.angle) < Math.PI / 4 ? down : right),
  }))
}

/** The picture of a line, and where it is. */
export interface Line {
  picture: Picture
  /** From the pixels of `picture` to those of the page. */
  place: Projection
  /** How many times as wide as high a square of the page is in `picture`. */
  stretch: number
}

/** What a box holds, without its slant. @param stretch multiple of the width that it would have by its height */
export function cutLine(page: Picture, { x, y, length, thickness, angle }: TextBox, stretch = 1): Line {
  const down = thickness / LINE_HEIGHT
  const along = down / stretch
  const width = Math.max(16, Math.round(Math.min(length / along, LINE_HEIGHT * ASPECT_MAX)))
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  const [dx, dy] = [(width / 2) * along, (LINE_HEIGHT / 2) * down]
  const [left, top] = [x - cos * dx + sin * dy, y - sin * dx - cos * dy]
  const place: Projection = [cos * along, -sin * down, left, sin * along, cos * down, top, 0, 0, 1]
  return { picture: warp(page, place, width, LINE_HEIGHT), place, stretch }
}
