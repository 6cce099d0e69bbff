import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Delayed } from '../../components/Delayed.tsx'
import { DeliveryAttempts } from '../../components/DeliveryAttempts.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { JsonView } from '../../components/JsonView.tsx'
import { useEventTypes, type Endpoint } from '../endpoints/endpoint-queries.ts'
import { useEventSample, useMessageAttempts, useSendExample } from './endpoint-actions.ts'
import classes from './ExampleDialog.module.css'

interface ExampleDialogProps {
  endpoint: Endpoint
  isOpen: boolean
  onClose: () => void
}

const FIRST_TYPE = 'labtest.order.created'

/** Sends an example of an event to the endpoint, and shows what it answers. */
export const ExampleDialog = ({ endpoint, isOpen, onClose }: ExampleDialogProps) => (
  <Modal opened={isOpen} onClose={onClose} title="Send an example" closeButtonProps={{ 'aria-label': 'Close' }} size="lg">
    <Example endpoint={endpoint} onClose={onClose} />
  </Modal>
)

function Example({ endpoint: { id, filter_types }, onClose }: Omit<ExampleDialogProps, 'isOpen'>) {
  const types = useEventTypes()
  const [type, setType] = useState(filter_types?.[0] ?? FIRST_TYPE)
  const sending = useSendExample(id)
  const sample = useEventSample(type)
  const error = types.error ?? sample.error
  if (sending.data)
    return (
      <Stack gap="md">
        <ExampleOutcome webhook_id={id} message_id={sending.data.id} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={() => sending.reset()}>
            Send another
          </Button>
          <Button onClick={onClose}>Close</Button>
        </Group>
      </Stack>
    )
  return (
    <Stack gap="md">
      <Select
        label="Event type"
        data={types.data ?? [type]}
        value={type}
        onChange={(next) => next && setType(next)}
        allowDeselect={false}
        searchable
        limit={50}
        nothingFoundMessage="No event type has this name"
      />
      <Text size="sm">
        This body is sent once to this endpoint, signed like an event, whatever types it receives. It is about nobody.
      </Text>
      {error && <ErrorNotice error={error} />}
      {sample.data && (
        <div className={classes.sample}>
          <JsonView value={sample.data} label="the example" />
        </div>
      )}
      {sending.error && <ErrorNotice error={sending.error} />}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button loading={sending.isPending} onClick={() => sending.mutate(type)}>
          Send example
        </Button>
      </Group>
    </Stack>
  )
}

/** What the endpoint answered. */
function ExampleOutcome({ webhook_id, message_id }: { webhook_id: string; message_id: string }) {
  const attempts = useMessageAttempts(webhook_id, message_id)
  if (attempts.error) return <ErrorNotice error={attempts.error} onRetry={() => void attempts.refetch()} />
  if (!attempts.data?.length)
    return (
      <Delayed>
        <Text size="sm" component="output">
          The example is on its way.
        </Text>
      </Delayed>
    )
  const newest = attempts.data[0]!
  return (
    <Stack gap="md">
      <Text component="output">
        {newest.succeeded
          ? 'The endpoint accepted the example.'
          : 'The endpoint did not accept the example. It is sent again, later and later.'}
      </Text>
      <DeliveryAttempts attempts={attempts.data} />
    </Stack>
  )
}
