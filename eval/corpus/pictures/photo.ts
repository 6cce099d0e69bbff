// What the camera of a phone makes of a page on a desk.
import { createCanvas, type Canvas } from '@napi-rs/canvas'
import type { Random } from '../random.ts'
import { adjust, createNoise, resize, toJpeg } from './pixels.ts'

/** Resolution that pages are rendered at before they are photographed. */
export const PHOTO_DPI = 180

type Point = [x: number, y: number]

/** → JPEG */
export function photographPage(page: Canvas, random: Random): Uint8Array {
  const scale = random.float(0.9, 1.05)
  const width = Math.round(page.width * scale)
  const height = Math.round(page.height * scale)
  const photo = warp(
    page,
    width,
    height,
    randomCorners(width, height, random),
    random.pick(['#6b4a2f', '#3c4146', '#b8b2a6', '#22303c']),
  )
  // Out of focus by less than a pixel or by more than one.
  const blurred = random.chance(0.6) ? soften(photo, random.float(1.1, 1.45)) : photo
  shade(blurred, random)
  return toJpeg(blurred, random.integer(55, 88))
}

/** Where the corners of the page are in the photo: top left, top right, bottom right, bottom left. */
function randomCorners(width: number, height: number, random: Random): [Point, Point, Point, Point] {
  const inset = (size: number) => size * random.float(0.015, 0.075)
  return [
    [inset(width), inset(height)],
    [width - inset(width), inset(height)],
    [width - inset(width), height - inset(height)],
    [inset(width), height - inset(height)],
  ]
}

/** Coefficients of the projection that maps the unit square to a quadrilateral (Heckbert 1989). */
function projection([p0, p1, p2, p3]: [Point, Point, Point, Point]): number[] {
  const [dx1, dx2, sx] = [p1[0] - p2[0], p3[0] - p2[0], p0[0] - p1[0] + p2[0] - p3[0]]
  const [dy1, dy2, sy] = [p1[1] - p2[1], p3[1] - p2[1], p0[1] - p1[1] + p2[1] - p3[1]]
  const determinant = dx1 * dy2 - dx2 * dy1
  const g = (sx * dy2 - dx2 * sy) / determinant
  const h = (dx1 * sy - sx * dy1) / determinant
  return [
    p1[0] - p0[0] + g * p1[0],
    p3[0] - p0[0] + h * p3[0],
    p0[0],
    p1[1] - p0[1] + g * p1[1],
    p3[1] - p0[1] + h * p3[1],
    p0[1],
    g,
    h,
  ]
}

/** Draws the page so that its corners come to `corners`, with bilinear interpolation. */
function warp(page: Canvas, width: number, height: number, corners: [Point, Point, Point, Point], desk: string): Canvas {
  const [a, b, c, d, e, f, g, h] = projection(corners) as [number, number, number, number, number, number, number, number]
  const photo = createCanvas(width, height)
  const context = photo.getContext('2d')
  context.fillStyle = desk
  context.fillRect(0, 0, width, height)
  const image = context.getImageData(0, 0, width, height)
  const { data } = image
  const source = page.getContext('2d').getImageData(0, 0, page.width, page.height).data
  // The inverse of the matrix [a b c; d e f; g h 1], up to a factor.
  const [i0, i1, i2, i3, i4, i5] = [e - f * h, c * h - b, b * f - c * e, f * g - d, a - c * g, c * d - a * f]
  const [i6, i7, i8] = [d * h - e * g, b * g - a * h, a * e - b * d]
  const stride = page.width * 4
  const right = page.width - 1
  const bottom = page.height - 1
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i += 4) {
      const w = i6 * x + i7 * y + i8
      const u = ((i0 * x + i1 * y + i2) / w) * right
      const v = ((i3 * x + i4 * y + i5) / w) * bottom
      if (u < 0 || v < 0 || u >= right || v >= bottom) continue
      const u0 = Math.floor(u)
      const v0 = Math.floor(v)
      const du = u - u0
      const dv = v - v0
      const at = v0 * stride + u0 * 4
      const w00 = (1 - du) * (1 - dv)
      const w10 = du * (1 - dv)
      const w01 = (1 - du) * dv
      const w11 = du * dv
      for (let channel = 0; channel < 3; channel++) {
        const j = at + channel
        data[i + channel] = source[j]! * w00 + source[j + 4]! * w10 + source[j + stride]! * w01 + source[j + stride + 4]! * w11
      }
    }
  context.putImageData(image, 0, 0)
  return photo
}

/** Loses detail: smaller and large again. */
const soften = (photo: Canvas, factor: number): Canvas =>
  resize(resize(photo, Math.round(photo.width / factor), Math.round(photo.height / factor)), photo.width, photo.height)

/** A shadow that falls over a part, a lens that is darker toward the corners, and the noise of the sensor. */
function shade(photo: Canvas, random: Random): void {
  const { width, height } = photo
  const [angle, edge, depth] = [random.float(0, 2 * Math.PI), random.float(0.25, 0.75), random.float(15, 70)]
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  const vignette = random.float(10, 45)
  const noise = createNoise(random)
  const grain = random.float(2, 8)
  adjust(photo, (_, x, y) => {
    const u = x / width - 0.5
    const v = y / height - 0.5
    const place = (u * cos + v * sin + 0.5 - edge) * 8
    const shadow = depth / (1 + Math.exp(-place))
    return -shadow - vignette * (u * u + v * v) * 2 + noise() * grain
  })
}
