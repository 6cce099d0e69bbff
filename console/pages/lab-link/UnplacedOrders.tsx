import { Button, Group, Stack, Table, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { toWords } from '../../components/order-status.ts'
import { SystemTime } from '../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { usePermission } from '../../session/permissions.ts'
import { accountWords, useSendOrder, useUnplacedOrders, type LabLink, type UnplacedOrder } from '../links/link-queries.ts'
import { OrderLink } from '../links/OrderLink.tsx'

/** Orders that the laboratory does not have, each with a button that sends it again. Nothing while there are none. */
export function UnplacedOrders({ link }: { link: LabLink }) {
  const orders = useUnplacedOrders(link.account_id)
  const canSend = usePermission('send_lab_link_order')
  // A copy: the list behind the dialog is read again meanwhile.
  const [chosen, setChosen] = useState<UnplacedOrder[]>([])
  const [isOpen, { open, close }] = useDisclosure()
  const choose = (selection: UnplacedOrder[]): void => {
    setChosen(selection)
    open()
  }
  if (orders.error) return <ErrorNotice error={orders.error} onRetry={() => void orders.refetch()} />
  if (!orders.data?.length) return null
  return (
    <Stack gap="sm" component="section" aria-labelledby="link-orders">
      <Group justify="space-between">
        <Title order={2} id="link-orders">
          Orders that the laboratory does not have
        </Title>
        {canSend && orders.data.length > 1 && (
          <Button size="compact-sm" variant="default" onClick={() => choose(orders.data)}>
            Send all {orders.data.length}
          </Button>
        )}
      </Group>
      <Text size="sm">The laboratory refused them, they could not be written, or they were due while the link was not live.</Text>
      <ScrollRegion label="Orders that the laboratory does not have">
        <Table miw={340} aria-label="Orders that the laboratory does not have">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Order</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th>Since</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {orders.data.map((order) => (
              <Table.Tr key={order.order_id}>
                <Table.Td>
                  <OrderLink order_id={order.order_id} team_id={order.team_id} />
                </Table.Td>
                <Table.Td>{toWords(order.status)}</Table.Td>
                <Table.Td>
                  <SystemTime value={order.failed_at} />
                </Table.Td>
                <Table.Td ta="right">
                  {canSend && (
                    <Button size="compact-sm" variant="default" onClick={() => choose([order])}>
                      Send order
                    </Button>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
      <SendDialog link={link} orders={chosen} isOpen={isOpen} onClose={close} />
    </Stack>
  )
}

interface SendDialogProps {
  link: LabLink
  orders: UnplacedOrder[]
  isOpen: boolean
  onClose: () => void
}

function SendDialog({ link, orders, isOpen, onClose }: SendDialogProps) {
  const send = useSendOrder(link.account_id)
  const words = orders.length === 1 ? 'order' : `${orders.length} orders`
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Send ${words}`}
      action={`Send ${words}`}
      onConfirm={() => send(orders)}
    >
      <Text size="sm">
        {orders.length === 1 ? 'The order goes' : 'The orders go, oldest first,'} to {accountWords(link)} as order and profile are
        now, with a new control id. {orders.length > 1 && 'The first one that cannot be sent ends this. '}Patients get no message.
      </Text>
      {(link.mode === 'off' || link.mode === 'test' || link.mode === 'shadow') && (
        <Text size="sm" fw={600}>
          The link is in mode {link.mode}, so the server refuses this until it is live.
        </Text>
      )}
    </ConfirmDialog>
  )
}
