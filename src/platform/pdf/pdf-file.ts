// Checks of documents that others have made. Pure.

export const PDF_BYTES_MAX = 10_000_000
const PADDING = '='.charCodeAt(0)
/** By character: 1 for a digit of Base64, 2 for white space. */
const base64Kinds = new Uint8Array(128)
for (const digit of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') base64Kinds[digit.charCodeAt(0)] = 1
for (const space of ' \t\n\v\f\r') base64Kinds[space.charCodeAt(0)] = 2

/**
 * Whether a text is Base64 with its padding; white space does not count. Regular expressions of the whole text sometimes ended with a
 * RangeError at 13 MB, in processes that had run for a while.
 */
export function isBase64(text: string): boolean {
  let [digits, padding] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const kind = base64Kinds[code]
    if (kind === 2) continue
    if (code === PADDING) padding++
    else if (kind === 1 && padding === 0) digits++
    else return false
  }
  return digits > 0 && padding <= 2 && (digits + padding) % 4 === 0
}

/** Readers search the last kilobyte for the end of the file, and accept some bytes before the header. */
const EDGE = 1024
const HEAD = /%PDF-(1\.[0-7]|2\.0)[\r\n ]/
const END = /startxref\s+(\d{1,10})\s+%%EOF/g
const TABLE_MAX = 2_000_000

/**
 * Checks that bytes are a PDF that a reader can open: its header, its end, and its cross-reference table, not its content.
 * @returns the error in the document; undefined if it is a PDF
 */
export function pdfError(bytes: Buffer): string | undefined {
  const head = HEAD.exec(bytes.subarray(0, EDGE).toString('latin1'))
  if (!head) return 'The document is not a PDF'
  const end = [...bytes.subarray(-EDGE).toString('latin1').matchAll(END)].at(-1)
  if (!end) return 'The PDF has no end: it may have been cut off'
  return hasTrailer(bytes, Number(end[1])) || hasTrailer(bytes, Number(end[1]) + head.index)
    ? undefined
    : 'The PDF has no table of its objects'
}

/** Whether a cross-reference table with a trailer, or a cross-reference stream, is at the offset that the end names, and names the root. */
function hasTrailer(bytes: Buffer, offset: number): boolean {
  if (offset >= bytes.length) return false
  const text = bytes.subarray(offset, offset + TABLE_MAX).toString('latin1')
  const dictionary = /^\s*xref\s/.test(text)
    ? /\btrailer\s*<<([\s\S]*)/.exec(text)?.[1]
    : /^\s*\d+\s+\d+\s+obj\s*<<([\s\S]*?)\bstream\b/.exec(text)?.[1]
  return dictionary !== undefined && /\/Root\s+\d+\s+\d+\s+R/.test(dictionary)
}
