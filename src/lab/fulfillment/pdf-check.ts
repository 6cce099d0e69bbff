// Whether bytes are a PDF that a reader can open: its head, its end, and the table of its objects. Pure. Looks no deeper: what the
// document says is its author's.

/** Readers look for the end of the file within its last kilobyte, and put up with some bytes before its head. */
const EDGE = 1024
const HEAD = /%PDF-(1\.[0-7]|2\.0)[\r\n ]/
const END = /startxref\s+(\d{1,10})\s+%%EOF/g
const TABLE_MAX = 2_000_000

/** What is wrong with a document; undefined when it is one. */
export function pdfError(bytes: Buffer): string | undefined {
  const head = HEAD.exec(bytes.subarray(0, EDGE).toString('latin1'))
  if (!head) return 'The document is not a PDF'
  const end = [...bytes.subarray(-EDGE).toString('latin1').matchAll(END)].at(-1)
  if (!end) return 'The PDF has no end: it may have been cut off'
  return hasTrailer(bytes, Number(end[1])) || hasTrailer(bytes, Number(end[1]) + head.index)
    ? undefined
    : 'The PDF has no table of its objects'
}

/** At the offset that the end names stands a table of objects with a trailer, or a stream that is both; either names the root. */
function hasTrailer(bytes: Buffer, offset: number): boolean {
  if (offset >= bytes.length) return false
  const text = bytes.subarray(offset, offset + TABLE_MAX).toString('latin1')
  const dictionary = /^\s*xref\s/.test(text)
    ? /\btrailer\s*<<([\s\S]*)/.exec(text)?.[1]
    : /^\s*\d+\s+\d+\s+obj\s*<<([\s\S]*?)\bstream\b/.exec(text)?.[1]
  return dictionary !== undefined && /\/Root\s+\d+\s+\d+\s+R/.test(dictionary)
}
