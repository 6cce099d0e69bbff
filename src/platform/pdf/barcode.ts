// Barcodes as numbers. Laboratories scan Code 128: it encodes letters, digits and signs of ASCII. Only rendering threads import this file.
import bwip from 'bwip-js'

/** Longer codes fit neither on a label nor into a reader. */
const BARCODE_LENGTH_MAX = 40

const raw = bwip.raw as unknown as (options: { bcid: string; text: string }) => { sbs: number[] }[]

export interface Barcode {
  /** Widths of bars and gaps, alternating, in modules; the first and the last are bars. */
  widths: readonly number[]
  /** Total width. */
  modules: number
}

/** A text as Code 128; undefined if it cannot be encoded: empty, more than 40 characters, or not ASCII. */
export function encodeCode128(text: string): Barcode | undefined {
  if (!/^[\x20-\x7e]+$/.test(text) || text.length > BARCODE_LENGTH_MAX) return undefined
  const widths = raw({ bcid: 'code128', text })[0]!.sbs
  return { widths, modules: widths.reduce((sum, width) => sum + width, 0) }
}
