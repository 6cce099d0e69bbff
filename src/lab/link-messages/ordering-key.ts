// Which messages must be processed one after the other: those that name the same order. Pure.

const NUMBER_LENGTH_MAX = 200
const SCANNED_BYTES_MAX = 65_536
const JSON_PLACER = /"placer"\s*:\s*\[\s*"([^"\\]{1,200})"/u
const JSON_OTHER = /"(?:filler|specimen|accession|group)"\s*:\s*\[\s*"([^"\\]{1,200})"/u

/**
 * The number by which a message names its order first: the placer's number, else the laboratory's; null if none is found. It decides only the
 * order of processing, so it is read from the bytes without their character set.
 */
export function orderingKey(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SCANNED_BYTES_MAX)).toString('latin1')
  if (/^\s*\{/u.test(text)) return (JSON_PLACER.exec(text) ?? JSON_OTHER.exec(text))?.[1]?.trim() ?? null
  const separator = /^\s*(?:MSH|FHS|BHS)(.)/u.exec(text)?.[1]
  if (separator === undefined) return null
  const segments = text
    .split(/[\r\n]+/u)
    .filter((line) => line.startsWith(`ORC${separator}`) || line.startsWith(`OBR${separator}`))
  const field = (nth: number) =>
    segments
      .map((segment) => segment.split(separator, nth + 1)[nth]?.trim())
      .find((number) => number)
      ?.slice(0, NUMBER_LENGTH_MAX)
  return field(2) ?? field(3) ?? null
}
