// Specimen numbers that this installation assigns itself.

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Ten letters and digits from the random end of a reference, so that the same reference always gets the same number. */
export function specimenNumber(prefix: string, reference: string): string {
  let bits = BigInt(`0x${reference.replaceAll('-', '').slice(-13)}`)
  let text = ''
  for (let i = 0; i < 10; i++, bits >>= 5n) text = ALPHABET[Number(bits & 31n)] + text
  return `${prefix}${text}`
}
