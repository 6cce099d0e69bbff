import { Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { useOrderRefresh, type Order } from './order-queries.ts'
import classes from './SendToLaboratory.module.css'

/** Whether an order could not be sent to the laboratory of its account. */
export const isUnsent = (order: Order): boolean =>
  order.lab_account_id !== null && order.last_event.status_detail === 'fulfillment_error'

/** Sends an order again that its laboratory does not have: refused, or due while the link of its account was not live. */
export function SendToLaboratory({ order }: { order: Order }) {
  const { api, org_id, team, environment } = useTeam()
  const canSend = usePermission('send_lab_link_order')
  const refresh = useOrderRefresh(order.id)
  const [isOpen, { open, close }] = useDisclosure()
  if (!canSend || !isUnsent(order)) return null
  return (
    <>
      <StatusBadge tone="failed">Fulfillment error</StatusBadge>
      {order.notes !== null && (
        <Text size="sm" className={classes.notes ?? ''}>
          {order.notes}
        </Text>
      )}
      <Button size="xs" onClick={open}>
        Send to laboratory
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={close}
        title="Send the order to its laboratory"
        action="Send to laboratory"
        onConfirm={async () => {
          const path = { org_id, team_id: team.id, environment, order_id: order.id }
          await api.POST('/v1/org/{org_id}/team/{team_id}/{environment}/lab_link/order/{order_id}/send', { params: { path } })
          await refresh()
        }}
      >
        <Text size="sm">
          The laboratory gets the order as it is now, over the link of its lab account. Correct first what the notes of the order
          say is wrong. The patient gets no message.
        </Text>
      </ConfirmDialog>
    </>
  )
}
