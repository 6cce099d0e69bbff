// The laboratory of a sandbox team: takes everything, says nothing. What happens next is the simulator's to play.
import type { LabLink } from './lab-link.ts'
import { numberOf } from './specimen-numbers.ts'

export const sandboxLink: LabLink = {
  name: 'sandbox',
  barcode: (reference) => numberOf('DBK', reference),
}
