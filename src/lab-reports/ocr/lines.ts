// The lines of a picture: where they are, and each as a picture of its own.
import { LINE_HEIGHT, type Engine } from './engine.ts'
import { shrunk, warped, type Picture } from './picture.ts'
import type { Projection } from './projection.ts'
import { textBoxes, type TextBox } from './text-boxes.ts'

/** Longer lines are cut off after this many heights; a line over a whole page has 60. */
const ASPECT_MAX = 80

/** The texts of a picture, seen with a longer side of `side` pixels, in pixels of the picture. */
export async function detect(ocr: Engine, picture: Picture, side: number): Promise<TextBox[]> {
  const scale = Math.min(1, side / Math.max(picture.width, picture.height))
  const multiple = (length: number) => Math.max(32, Math.round((length * scale) / 32) * 32)
  const [width, height] = [multiple(picture.width), multiple(picture.height)]
  const seen =
    scale < 1
      ? shrunk(picture, width, height)
      : warped(picture, [picture.width / width, 0, 0, 0, picture.height / height, 0, 0, 0, 1], width, height)
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
}

/** What a box holds, without its slant. */
export function lineOf(page: Picture, { x, y, length, thickness, angle }: TextBox): Line {
  const scale = thickness / LINE_HEIGHT
  const width = Math.max(16, Math.round(Math.min(length / scale, LINE_HEIGHT * ASPECT_MAX)))
  const [cos, sin] = [Math.cos(angle) * scale, Math.sin(angle) * scale]
  const [dx, dy] = [width / 2, LINE_HEIGHT / 2]
  const place: Projection = [cos, -sin, x - cos * dx + sin * dy, sin, cos, y - sin * dx - cos * dy, 0, 0, 1]
  return { picture: warped(page, place, width, LINE_HEIGHT), place }
}
