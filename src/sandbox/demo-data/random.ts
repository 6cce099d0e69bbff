// Random numbers that depend on texts alone: the same in every process and at every time.
import { createHash } from 'node:crypto'

/** A sequence of numbers from 0 up to 1, which the parts determine. */
export type Random = () => number

/** Source: sfc32, public domain (Chris Doty-Humphrey, PractRand). */
export function randomOf(...parts: (string | number)[]): Random {
  const seed = createHash('sha256').update(JSON.stringify(parts)).digest()
  let [a, b, c, counter] = [seed.readInt32LE(0), seed.readInt32LE(4), seed.readInt32LE(8), seed.readInt32LE(12)]
  return () => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
}

export const randomBetween = (random: Random, min: number, max: number): number => min + random() * (max - min)

/** Around a mean; the sum of four uniform numbers, so that it is never far off. */
export const randomNear = (random: Random, mean: number, deviation: number): number =>
  mean + (random() + random() + random() + random() - 2) * Math.sqrt(3) * deviation

export const chooseRandom = <V>(random: Random, values: readonly [V, ...V[]]): V =>
  values[Math.floor(random() * values.length)] ?? values[0]

/** @param digits after the point */
export const roundTo = (value: number, digits = 0): number => Math.round(value * 10 ** digits) / 10 ** digits
