// The link for manual fulfillment: the operator's staff see the order, assign the kit and send it. Placing sends no message.
import type { LabLink } from './lab-link.ts'

export const manualLink: LabLink = {
  name: 'manual',
  barcode: () => undefined,
}
