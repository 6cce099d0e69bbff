// The laboratory of a sandbox team: takes everything, says nothing. What happens next is the simulator's to play.
import type { LabLink } from './link.ts'

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Ten letters and digits from the random end of the reference, so that the same reference has the same barcode. */
export const sandboxLink: LabLink = {
  name: 'sandbox',
  barcode(reference) {
    let bits = BigInt(`0x${reference.replaceAll('-', '').slice(-13)}`)
    let text = ''
    for (let i = 0; i < 10; i++, bits >>= 5n) text = ALPHABET[Number(bits & 31n)] + text
    return `DBK${text}`
  },
}
