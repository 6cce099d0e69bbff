// Tells patients of the steps of their orders, within the transactions that make them.
import { orderStepped } from '../../lab/orders/order-hooks.ts'
import { on, type Hook } from '../../platform/db/hooks.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { OpenOrder } from '../../lab/orders/open-order.ts'
import { helpWith } from './message-details.ts'
import { channelsOf, heard } from '../messages/kinds.ts'
import { tell } from '../messages/messages.ts'
import { beginReminders } from '../reminders/reminders.ts'
import { switchesOf } from '../messages/settings.ts'
import { beginVisitReminders } from '../reminders/visit-reminders.ts'

/** @param sms whether a gateway for text messages is set */
export const orderHook = ({ sms }: { sms: boolean }): Hook =>
  on(orderStepped, (tx, open, low) => {
    if (heard.has(low) && !open.isHidden) return stepped(tx, open, low, sms)
  })

async function stepped(tx: Tx, open: OpenOrder, low: string, sms: boolean): Promise<void> {
  const wanted = switchesOf(tx.tenant.settings, open.intake)
  if (!wanted.sms && !wanted.email) return
  const { method } = open.order.lab_test
  if (isNews(open, low)) tell(tx, open.order, low, channelsOf(method, low, wanted), sms, await helpWith(tx, open, low))
  if (!wanted.sms) return
  beginReminders(tx, open.order, low)
  beginVisitReminders(tx, open.order, low)
}

/** An order that was placed elsewhere is none that was just placed. */
const isNews = ({ intake }: OpenOrder, low: string): boolean => low !== 'ordered' || intake.imported !== true
