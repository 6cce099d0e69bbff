// Pictures in shades of gray, and what is done to them before they are read.
import type { Canvas } from '@napi-rs/canvas'
import type { Projection } from './projection.ts'

/** A byte for each pixel, by rows; 255 is white. */
export interface Picture {
  width: number
  height: number
  pixels: Uint8Array
}

export const blankPicture = (width: number, height: number): Picture => ({
  width,
  height,
  pixels: new Uint8Array(width * height).fill(255),
})

/** Print whose shade differs less from that of the paper cannot be read. */
const CONTRAST_MIN = 16

/** Whether all pixels of a picture have about the same shade, so that it contains no text. A scan with dust is not blank. */
export function isBlank({ pixels }: Picture): boolean {
  let [darkest, lightest] = [255, 0]
  for (const shade of pixels) {
    if (shade < darkest) darkest = shade
    if (shade > lightest) lightest = shade
    if (lightest - darkest >= CONTRAST_MIN) return false
  }
  return true
}

export function pictureOf(canvas: Canvas): Picture {
  const { width, height } = canvas
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
  const pixels = new Uint8Array(width * height)
  for (let index = 0, from = 0; index < pixels.length; index++, from += 4)
    pixels[index] = (data[from]! * 77 + data[from + 1]! * 150 + data[from + 2]! * 29) >> 8
  return { width, height, pixels }
}

/**
 * A picture of this size in which each pixel is what `from` maps it to in the source, between its four nearest pixels. What is beyond the
 * source is white. Places are rounded to a 256th of a pixel: whole numbers and no arrays took a third of the time of a page's pictures.
 */
export function warp(source: Picture, projection: Projection, width: number, height: number): Picture {
  const target = blankPicture(width, height)
  const [a, b, c, d, e, f, g, h, i] = projection
  const { pixels: of } = source
  const { pixels } = target
  const isFlat = g === 0 && h === 0
  const right = source.width - 1
  const bottom = source.height - 1
  const stride = source.width
  for (let y = 0, index = 0; y < height; y++)
    for (let x = 0; x < width; x++, index++) {
      const w = isFlat ? i : g * x + h * y + i
      const u = (a * x + b * y + c) / w
      const v = (d * x + e * y + f) / w
      if (!(u >= 0 && v >= 0 && u < right && v < bottom)) continue
      const column = (u * 256) | 0
      const row = (v * 256) | 0
      const beside = column & 255
      const below = row & 255
      const near = (row >> 8) * stride + (column >> 8)
      const upper = of[near]! * (256 - beside) + of[near + 1]! * beside
      const lower = of[near + stride]! * (256 - beside) + of[near + stride + 1]! * beside
      pixels[index] = (upper * (256 - below) + lower * below + 32_768) >> 16
    }
  return target
}

/** A smaller picture; each pixel is the mean of what it covers. One that would be larger stays as it is. */
export function shrink(source: Picture, width: number, height: number): Picture {
  if (width >= source.width && height >= source.height) return source
  return shrunkColumns(shrunkRows(source, Math.min(width, source.width)), Math.min(height, source.height))
}

/** Which pixels, of `size`, one of fewer covers: from one to the one before another, the first and the last in part. */
interface Covered {
  first: number
  last: number
  firstShare: number
  share: number
  lastShare: number
}

function coverage(size: number, target: number): Covered[] {
  const step = size / target
  return Array.from({ length: target }, (_, index) => {
    const from = index * step
    const to = Math.min(size, from + step)
    const [first, last] = [Math.floor(from), Math.min(size - 1, Math.ceil(to) - 1)]
    const share = 1 / (to - from)
    const firstShare = (Math.min(first + 1, to) - from) * share
    return { first, last, firstShare, share, lastShare: last > first ? (to - last) * share : 0 }
  })
}

function shrunkRows({ width, height, pixels }: Picture, target: number): Picture {
  if (target === width) return { width, height, pixels }
  const result = blankPicture(target, height)
  const columns = coverage(width, target)
  for (let row = 0, to = 0; row < pixels.length; row += width)
    for (const { first, last, firstShare, share, lastShare } of columns) {
      let between = 0
      for (let x = row + first + 1; x < row + last; x++) between += pixels[x]!
      result.pixels[to++] = pixels[row + first]! * firstShare + between * share + pixels[row + last]! * lastShare + 0.5
    }
  return result
}

function shrunkColumns({ width, height, pixels }: Picture, target: number): Picture {
  if (target === height) return { width, height, pixels }
  const result = blankPicture(width, target)
  const sums = new Float64Array(width)
  for (const [index, { first, last, firstShare, share, lastShare }] of coverage(height, target).entries()) {
    sums.fill(0.5)
    for (let y = first; y <= last; y++) {
      const row = y * width
      const weight = y === first ? firstShare : y < last ? share : lastShare
      for (let x = 0; x < width; x++) sums[x]! += pixels[row + x]! * weight
    }
    result.pixels.set(sums, index * width)
  }
  return result
}

/** The shade between the dark and the light pixels (Otsu 1979): dark ones are below it. */
export function thresholdOf(pixels: Uint8Array): number {
  const counts = new Uint32Array(256)
  for (const pixel of pixels) counts[pixel]!++
  let total = 0
  for (let shade = 0; shade < 256; shade++) total += shade * counts[shade]!
  let [dark, darkSum, best, threshold] = [0, 0, -1, 128]
  for (let shade = 0; shade < 255; shade++) {
    dark += counts[shade]!
    darkSum += shade * counts[shade]!
    const light = pixels.length - dark
    if (!dark || !light) continue
    const difference = darkSum / dark - (total - darkSum) / light
    const between = dark * light * difference * difference
    if (between > best) [best, threshold] = [between, shade + 1]
  }
  return threshold
}
