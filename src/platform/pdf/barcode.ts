// Barcodes as numbers. Code 128 is what laboratories scan: it takes letters, digits and signs of ASCII. Only threads that draw import it.
import bwip from 'bwip-js'

/** Longer ones fit neither on a label nor into a reader. */
const BARCODE_LENGTH_MAX = 40

const raw = bwip.raw as unknown as (options: { bcid: string; text: string }) => { sbs: number[] }[]

export interface Barcode {
  /** Of bars and gaps in turn, in modules; the first and the last are bars. */
  widths: readonly number[]
  /** All of them together. */
  modules: number
}

/** A text as Code 128; undefined where it cannot be one: empty, more than 40 characters, or not ASCII. */
export function encodeCode128(text: string): Barcode | undefined {
  if (!/^[\x20-\x7e]+$/.test(text) || text.length > BARCODE_LENGTH_MAX) return undefined
  const widths = raw({ bcid: 'code128', text })[0]!.sbs
  return { widths, modules: widths.reduce((sum, width) => sum + width, 0) }
}
