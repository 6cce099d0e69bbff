// Tells patients of the steps of their orders, within the transactions that make them.
import type { OrderFollower } from '../../lab/orders/order-hooks.ts'
import type { OpenOrder } from '../../lab/orders/open-order.ts'
import { helpWith } from './message-details.ts'
import { channelsOf, heard } from '../messages/kinds.ts'
import { tell } from '../messages/messages.ts'
import { beginReminders } from '../reminders/reminders.ts'
import { switchesOf } from '../messages/settings.ts'
import { beginVisitReminders } from '../reminders/visit-reminders.ts'

/** @param sms whether a gateway for text messages is set */
export const messageFollower = ({ sms }: { sms: boolean }): OrderFollower => ({
  statuses: heard,
  async stepped(tx, open, low) {
    if (open.isHidden) return
    const on = switchesOf(tx.tenant.settings, open.intake)
    if (!on.sms && !on.email) return
    const { method } = open.order.lab_test
    if (isNews(open, low)) tell(tx, open.order, low, channelsOf(method, low, on), sms, await helpWith(tx, open, low))
    if (!on.sms) return
    beginReminders(tx, open.order, low)
    beginVisitReminders(tx, open.order, low)
  },
})

/** An order that was placed elsewhere is none that was just placed. */
const isNews = ({ intake }: OpenOrder, low: string): boolean => low !== 'ordered' || intake.imported !== true
