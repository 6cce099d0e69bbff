// The links to laboratories, and the choice of one for a laboratory of a team. Production and sandbox differ only here and in the clock.
import type { Tenant } from '../../platform/db/transaction.ts'

interface LabLink {
  name: string
  /** The barcode of the kit for a reference, if the link determines it at once; undefined if staff assign the kit later. */
  barcode(reference: string): string | undefined
}

/** The link for manual fulfillment: the operator's staff see the order, assign the kit and send it. No message is sent. */
const manualLink: LabLink = {
  name: 'manual',
  barcode: () => undefined,
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * A specimen number that this installation assigns itself: ten letters and digits from the random end of a reference, so that
 * the same reference always gets the same number.
 */
export function specimenNumber(prefix: string, reference: string): string {
  let bits = BigInt(`0x${reference.replaceAll('-', '').slice(-13)}`)
  let text = ''
  for (let i = 0; i < 10; i++, bits >>= 5n) text = ALPHABET[Number(bits & 31n)] + text
  return `${prefix}${text}`
}

/** The laboratory of a sandbox team: accepts every order and reports nothing. The simulator runs the later steps. */
const sandboxLink: LabLink = {
  name: 'sandbox',
  barcode: (reference) => specimenNumber('DBK', reference),
}

/** The link to a laboratory; undefined if this installation has none. */
export function labLinkFor(tenant: Pick<Tenant, 'cell'>, lab_slug: string): LabLink | undefined {
  if (tenant.cell.startsWith('sandbox')) return sandboxLink
  return lab_slug === 'manual' ? manualLink : undefined
}

/** Whether the laboratory's orders use manual fulfillment. A sandbox team can practice with the practice laboratory. */
export const isManualLab = (tenant: Pick<Tenant, 'cell'>, lab_slug: string): boolean =>
  lab_slug === 'manual' || labLinkFor(tenant, lab_slug) === manualLink
