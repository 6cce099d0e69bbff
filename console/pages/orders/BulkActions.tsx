import { Button, Group, List, Modal, Progress, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import type { Api } from '../../api/client.ts'
import { shortId } from '../../components/IdText.tsx'
import { hasEnded } from '../../components/order-status.ts'
import { usePermission, type OperationId } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import type { OrderRow } from './orders-query.ts'

interface BulkAction {
  label: string
  operation: OperationId
  /** What it will do, for a number of orders. */
  preview: (count: number) => string
  appliesTo: (order: OrderRow) => boolean
  run: (api: Api, order: OrderRow) => Promise<unknown>
}

const ordersText = (count: number): string => (count === 1 ? '1 order' : `${count} orders`)

const CANCEL: BulkAction = {
  label: 'Cancel',
  operation: 'cancel_order',
  preview: (count) => `Cancels ${ordersText(count)}. A cancelled order cannot be continued, and each sends an event.`,
  appliesTo: ({ status }) => !hasEnded(status),
  run: (api, { id }) => api.POST('/v3/order/{order_id}/cancel', { params: { path: { order_id: id } } }),
}
const RESEND: BulkAction = {
  label: 'Resend events',
  operation: 'resend_events',
  preview: (count) => `Sends the last event of ${ordersText(count)} again to every endpoint that receives its type.`,
  appliesTo: () => true,
  run: (api, { id }) => api.POST('/v3/order/resend_events', { body: { order_ids: [id] } }),
}
const SIMULATE: BulkAction = {
  label: 'Simulate',
  operation: 'order_process_simulate',
  preview: (count) => `Simulates ${ordersText(count)} to completed results. Every step sends its event.`,
  appliesTo: ({ status }) => !hasEnded(status),
  run: (api, { id }) => api.POST('/v3/order/{order_id}/test', { params: { path: { order_id: id } } }),
}

/** An action and the orders that were selected when it was chosen. */
export interface Batch {
  action: BulkAction
  orders: readonly OrderRow[]
}

interface BulkActionsProps {
  orders: readonly OrderRow[]
  onChoose: (batch: Batch) => void
  onClear: () => void
}

/** The actions that the member may do to the selected orders. */
export function BulkActions({ orders, onChoose, onClear }: BulkActionsProps) {
  const { environment } = useTeam()
  const permitted = {
    cancel: usePermission(CANCEL.operation),
    resend: usePermission(RESEND.operation),
    simulate: usePermission(SIMULATE.operation),
  }
  const actions = [
    ...(permitted.cancel ? [CANCEL] : []),
    ...(permitted.resend ? [RESEND] : []),
    ...(permitted.simulate && environment === 'sandbox' ? [SIMULATE] : []),
  ]
  return (
    <Group gap="sm">
      <Text size="sm">{orders.length} selected</Text>
      {actions.map((action) => (
        <Button key={action.label} size="compact-sm" variant="default" onClick={() => onChoose({ action, orders })}>
          {action.label}
        </Button>
      ))}
      <Button size="compact-sm" variant="subtle" onClick={onClear}>
        Clear
      </Button>
    </Group>
  )
}

/** Says what a batch will do, shows how far it is, and lists what failed. The list behind it may change meanwhile. */
export function BatchDialog({ batch, isOpen, onClose }: { batch: Batch | undefined; isOpen: boolean; onClose: () => void }) {
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={batch && `${batch.action.label}: ${ordersText(batch.orders.length)}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {batch && <BatchRun batch={batch} onClose={onClose} />}
    </Modal>
  )
}

interface Outcome {
  id: string
  error: string
}

function BatchRun({ batch: { action, orders }, onClose }: { batch: Batch; onClose: () => void }) {
  const { api, key } = useTeam()
  const queryClient = useQueryClient()
  const [doneCount, setDoneCount] = useState<number>()
  const [failures, setFailures] = useState<Outcome[]>([])
  const affected = orders.filter(action.appliesTo)
  const runAll = async (): Promise<void> => {
    for (const [index, order] of affected.entries()) {
      setDoneCount(index)
      try {
        await action.run(api, order)
      } catch (error) {
        setFailures((former) => [...former, { id: order.id, error: messageOf(error) }])
      }
    }
    setDoneCount(affected.length)
    await queryClient.invalidateQueries({ queryKey: [...key, 'orders'] })
  }
  const isFinished = doneCount === affected.length
  return (
    <Stack gap="md">
      <Text size="sm">{action.preview(affected.length)}</Text>
      {affected.length < orders.length && (
        <Text size="sm" c="dimmed">
          {ordersText(orders.length - affected.length)} of the selection cannot be changed by it and stay as they are.
        </Text>
      )}
      {doneCount !== undefined && (
        <Progress value={affected.length ? (100 * doneCount) / affected.length : 100} aria-label="Orders that are done" />
      )}
      {isFinished && doneCount !== undefined && (
        <Text size="sm" component="output">
          {doneCount - failures.length} done, {failures.length} failed
        </Text>
      )}
      {failures.length > 0 && (
        <List size="sm">
          {failures.map(({ id, error }) => (
            <List.Item key={id}>
              {shortId(id)}: {error}
            </List.Item>
          ))}
        </List>
      )}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          {isFinished ? 'Close' : 'Not now'}
        </Button>
        {!isFinished && (
          <Button onClick={() => void runAll()} disabled={!affected.length} loading={doneCount !== undefined}>
            {action.label}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

const messageOf = (error: unknown): string => (error instanceof ApiError ? `${error.status} ${error.detail}` : 'failed')
