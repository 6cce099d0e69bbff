// Records messages to patients for the status transitions of orders, in the same transactions.
import { orderStepped } from '../../lab/orders/order-hooks.ts'
import { on, type Hook } from '../../platform/db/hooks.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { LockedOrder } from '../../lab/orders/locked-order.ts'
import { messageDetailsFor } from './message-details.ts'
import { channelsOf, triggeringStatuses } from '../messages/message-rules.ts'
import { recordMessages } from '../messages/messages.ts'
import { scheduleReminders } from '../reminders/reminders.ts'
import { enabledChannels } from '../messages/settings.ts'
import { planAppointmentReminders } from '../reminders/appointment-reminders.ts'

/** @param sms whether a gateway for text messages is configured */
export const orderHook = ({ sms }: { sms: boolean }): Hook =>
  on(orderStepped, (tx, open, low) => {
    if (triggeringStatuses.has(low) && !open.isHidden) return onStatus(tx, open, low, sms)
  })

async function onStatus(tx: Tx, open: LockedOrder, low: string, sms: boolean): Promise<void> {
  const wanted = enabledChannels(tx.tenant.settings, open.internalData)
  if (!wanted.sms && !wanted.email) return
  const { method } = open.order.lab_test
  if (shouldNotify(open, low))
    recordMessages(tx, open.order, low, channelsOf(method, low, wanted), sms, await messageDetailsFor(tx, open, low))
  if (!wanted.sms) return
  scheduleReminders(tx, open.order, low)
  planAppointmentReminders(tx, open.order, low)
}

/** An imported order is not reported as newly placed. */
const shouldNotify = ({ internalData }: LockedOrder, low: string): boolean => low !== 'ordered' || internalData.imported !== true
