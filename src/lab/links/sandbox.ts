// The laboratory of a sandbox team: takes everything, says nothing. What happens next is the simulator's to play.
import type { LabLink } from './lab-link.ts'
import { specimenNumber } from './specimen-numbers.ts'

export const sandboxLink: LabLink = {
  name: 'sandbox',
  barcode: (reference) => specimenNumber('DBK', reference),
}
