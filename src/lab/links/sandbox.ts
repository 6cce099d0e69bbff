// The laboratory of a sandbox team: accepts every order and reports nothing. The simulator runs the later steps.
import type { LabLink } from './lab-link.ts'
import { specimenNumber } from './specimen-numbers.ts'

export const sandboxLink: LabLink = {
  name: 'sandbox',
  barcode: (reference) => specimenNumber('DBK', reference),
}
