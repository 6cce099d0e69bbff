import { Button, Group, Menu, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Facts } from '../../components/Facts.tsx'
import { IdText } from '../../components/IdText.tsx'
import { methodWords, toneOfOrder, toWords } from '../../components/order-status.ts'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { useOrderRefresh, type Order, type OrderProgress } from './order-queries.ts'
import { isUnsent, SendToLaboratory } from './SendToLaboratory.tsx'

/** Where the order is now, what is known of its way, and in a sandbox the steps that may follow. */
export function OrderNow({ order, progress }: { order: Order; progress: OrderProgress }) {
  const current = progress.steps.find(({ phase }) => phase === 'current')
  return (
    <Stack gap="md" align="flex-start">
      {current && (
        <StatusBadge tone={toneOfOrder(current.state, current.low_level_status)}>{toWords(current.low_level_status)}</StatusBadge>
      )}
      <OrderFacts order={order} />
      <SendToLaboratory order={order} />
      <SandboxSteps order={order} progress={progress} />
    </Stack>
  )
}

function OrderFacts({ order }: { order: Order }) {
  const { details, lab_test, sample_id, expected_result_by_date, activate_by, physician } = order
  const shipment = details.type === 'testkit' ? details.data.shipment : undefined
  const facts: { label: string; value: ReactNode }[] = [
    { label: 'Method', value: methodWords(lab_test.method) },
    { label: 'Laboratory', value: lab_test.lab?.name },
    { label: 'Physician', value: physician && `${physician.first_name} ${physician.last_name}` },
    { label: 'Sample id', value: sample_id !== null && <IdText id={sample_id} /> },
    {
      label: 'To the patient',
      value: shipment && <Parcel courier={shipment.outbound_courier} number={shipment.outbound_tracking_number} />,
    },
    {
      label: 'To the laboratory',
      value: shipment && <Parcel courier={shipment.inbound_courier} number={shipment.inbound_tracking_number} />,
    },
    { label: 'Result expected by', value: expected_result_by_date },
    { label: 'Starts on', value: activate_by },
  ]
  return <Facts facts={facts} />
}

const Parcel = ({ courier, number }: { courier: string | null; number: string | null }) =>
  number === null ? (
    <Text span c="dimmed" size="sm">
      no parcel yet
    </Text>
  ) : (
    <span>
      {courier} <IdText id={number} />
    </span>
  )

/** In a sandbox the order can be led on: to the next expected step, to its result, or to anything that may follow. */
function SandboxSteps({ order, progress }: { order: Order; progress: OrderProgress }) {
  const { api, environment } = useTeam()
  const isPermitted = usePermission('order_process_simulate')
  const refresh = useOrderRefresh(order.id)
  const simulation = useMutation({
    mutationFn: (final_status?: string) =>
      api.POST('/v3/order/{order_id}/test', {
        params: { path: { order_id: order.id }, query: final_status === undefined ? {} : { final_status } },
      }),
    onSuccess: refresh,
  })
  if (environment !== 'sandbox' || !isPermitted || !progress.next.length) return null
  const expected = progress.steps.find(({ phase }) => phase === 'expected')
  const nextStep = progress.next.find(({ low_level_status }) => low_level_status === expected?.low_level_status)
  const others = progress.next.filter((step) => step !== nextStep)
  return (
    <Stack gap="sm">
      <Group gap="sm">
        {nextStep && (
          <Button
            size="xs"
            variant={isUnsent(order) ? 'default' : 'filled'}
            loading={simulation.isPending}
            onClick={() => simulation.mutate(nextStep.published_status)}
          >
            Next step: {toWords(nextStep.low_level_status)}
          </Button>
        )}
        {expected && (
          <Button size="xs" variant="default" disabled={simulation.isPending} onClick={() => simulation.mutate(undefined)}>
            Simulate the result
          </Button>
        )}
        {others.length > 0 && (
          <Menu position="bottom-start" withinPortal>
            <Menu.Target>
              <Button size="xs" variant="default" disabled={simulation.isPending}>
                Other steps
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {others.map(({ low_level_status, published_status }) => (
                <Menu.Item key={low_level_status} onClick={() => simulation.mutate(published_status)}>
                  {toWords(low_level_status)}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        )}
      </Group>
      {simulation.isSuccess && (
        <Text size="sm" c="dimmed" component="output">
          The simulation has started. Each step sends its event.
        </Text>
      )}
      {simulation.error && <ErrorNotice error={simulation.error} />}
    </Stack>
  )
}
