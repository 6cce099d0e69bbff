// Work on pixels that scans and photos share.
import { createCanvas, type Canvas } from '@napi-rs/canvas'
import type { Random } from '../random.ts'

const NOISE_COUNT = 8191

/** A source of normally distributed numbers that is quick enough for millions of pixels. */
export function createNoise(random: Random): () => number {
  const table = Float32Array.from({ length: NOISE_COUNT }, () => random.gaussian())
  let state = random.integer(1, 1_000_000)
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return table[(state >>> 8) % NOISE_COUNT]!
  }
}

/** Changes every pixel's brightness; `change` gets the luminance and the place, and returns what to add. */
export function adjust(canvas: Canvas, change: (luminance: number, x: number, y: number) => number): void {
  const { width, height } = canvas
  const context = canvas.getContext('2d')
  const image = context.getImageData(0, 0, width, height)
  const { data } = image
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i += 4) {
      const added = change(0.3 * data[i]! + 0.59 * data[i + 1]! + 0.11 * data[i + 2]!, x, y)
      // The array clamps.
      data[i]! += added
      data[i + 1]! += added
      data[i + 2]! += added
    }
  context.putImageData(image, 0, 0)
}

/** Turns by any angle. A right angle exchanges the sides; others keep the size and show paper in the corners. */
export function turn(canvas: Canvas, degrees: number, paper = '#ffffff'): Canvas {
  const isRight = degrees % 180 !== 0 && degrees % 90 === 0
  const turned = createCanvas(isRight ? canvas.height : canvas.width, isRight ? canvas.width : canvas.height)
  const context = turned.getContext('2d')
  context.fillStyle = paper
  context.fillRect(0, 0, turned.width, turned.height)
  context.translate(turned.width / 2, turned.height / 2)
  context.rotate((degrees * Math.PI) / 180)
  context.drawImage(canvas, -canvas.width / 2, -canvas.height / 2)
  return turned
}

export function resize(canvas: Canvas, width: number, height: number): Canvas {
  const resized = createCanvas(width, height)
  const context = resized.getContext('2d')
  context.imageSmoothingQuality = 'high'
  context.drawImage(canvas, 0, 0, width, height)
  return resized
}

export const toJpeg = (canvas: Canvas, quality: number): Uint8Array => canvas.toBuffer('image/jpeg', quality)
