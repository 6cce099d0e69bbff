// The text of a message as the API gives it, line by line: segments with their names, and below each its fields with their names.

interface MessageField {
  /** Such as `PID-5 Name`. */
  label: string
  value: string
}

export interface MessageSegment {
  /** Such as `PID  Patient`; a sentence about a batch where there are no fields. */
  name: string
  fields: MessageField[]
}

const SEGMENT = /^[A-Z][A-Z0-9]{2}(?: {2}.+)?$/u
const FIELD = /^ {2}([A-Z][A-Z0-9]{2}-\d+[^:]*): (.*)$/su
const BATCH = /^Batch of \d/u
const CUT = '… '
/** Stands for the end of a line within a value. The text of the API has no such character: it writes controls as `<0B>`. */
const LINE_END = '\v'

/**
 * The segments of a text; undefined if it is not one of segments, such as a message that cannot be read, of which the API gives the error and the
 * bytes.
 */
export function readSegments(text: string): MessageSegment[] | undefined {
  const lines = text
    .replaceAll('\n    ', LINE_END)
    .split('\n')
    .filter((line) => line !== '')
  const isBatch = BATCH.test(text)
  const segments: MessageSegment[] = []
  let hasSegment = false
  for (const [index, line] of lines.entries()) {
    const [, label, value] = FIELD.exec(line) ?? []
    if (label !== undefined && value !== undefined && hasSegment)
      segments.at(-1)!.fields.push({ label, value: value.replaceAll(LINE_END, '\n') })
    else if (SEGMENT.test(line)) {
      segments.push({ name: line, fields: [] })
      hasSegment = true
    } else if (isCut(lines, index) || (isBatch && !hasSegment)) segments.push({ name: line, fields: [] })
    else return undefined
  }
  return hasSegment ? segments : undefined
}

/** The note that the rest is not shown, and the line before it, which may end anywhere. */
const isCut = (lines: readonly string[], index: number): boolean =>
  lines.slice(index, index + 2).some((line, offset) => line.startsWith(CUT) && index + offset === lines.length - 1)
