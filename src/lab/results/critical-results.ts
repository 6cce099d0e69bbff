// Critical results: when and how the team is notified. Source: lab-testing.md 13.7.
import type { LockedOrder } from '../orders/locked-order.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { formatInstant } from '../../platform/pdf/text.ts'
import { sendMail } from '../../platform/mail/mail-outbox.ts'
import type { BiomarkerResult, ResultDocument } from './schema.ts'

/** The result of the order before this report. */
export interface EarlierResult {
  interpretation: string
  document: string
}

/** Whether a marker or the whole result is critical now and was not before. */
export function becomesCritical(document: ResultDocument, earlier: EarlierResult | undefined): boolean {
  const critical = document.results.filter((result) => result.interpretation === 'critical')
  const whole = document.metadata.interpretation === 'critical'
  if (critical.length === 0 && !whole) return false
  if (!earlier) return true
  const before = (JSON.parse(earlier.document) as ResultDocument).results.filter((result) => result.interpretation === 'critical')
  const known = new Set(before.map(markerKey))
  return (whole && earlier.interpretation !== 'critical') || critical.some((result) => !known.has(markerKey(result)))
}

const markerKey = ({ slug, provider_id, sub_id, parent }: BiomarkerResult): string =>
  JSON.stringify([slug || provider_id, sub_id, parent])

/**
 * Notifies the team by an event and, if it has configured an address, by email. The email contains ids only, because it leaves the server.
 * Writes mail. Emits labtest.result.critical. `created_at`: arrival of the first report of the order. `time_zone`: of the collection site, for the email.
 */
export function notifyCritical(
  tx: Tx,
  lockedOrder: LockedOrder,
  {
    sample_id,
    status,
    created_at,
    time_zone,
  }: { sample_id: string; status: 'partial' | 'final'; created_at: string; time_zone: string },
): void {
  const { id: order_id, user_id } = lockedOrder.order
  const updated_at = iso(tx.now)
  lockedOrder.emitEvent('labtest.result.critical', {
    order_id,
    sample_id,
    status,
    interpretation: 'critical',
    team_id: tx.team,
    user_id,
    created_at,
    updated_at,
  })
  const to = tx.tenant.settings.critical_result_notification_email
  if (typeof to === 'string' && to)
    sendMail(tx, {
      to,
      subject: 'A laboratory reported a critical result',
      text: [
        `A ${status} report with a critical result came in on ${formatInstant(updated_at, time_zone)}.`,
        '',
        `Order:  ${order_id}`,
        `User:   ${user_id}`,
        `Sample: ${sample_id}`,
        `Team:   ${tx.team} (${tx.tenant.cell})`,
        '',
        `Read it with GET /v3/order/${order_id}/result.`,
        '',
      ].join('\n'),
    })
}
