// Work for people: the operator's staff see the order, pick the kit and send it. Placing needs no message to anybody.
import type { LabLink } from './lab-link.ts'

export const manualLink: LabLink = {
  name: 'manual',
  barcode: () => undefined,
}
