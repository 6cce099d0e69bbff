import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { formOf, toBody } from '../endpoints/endpoint-form.ts'
import { EndpointFields } from '../endpoints/EndpointFields.tsx'
import type { Endpoint } from '../endpoints/endpoint-queries.ts'
import { useChangeEndpoint } from './endpoint-actions.ts'

interface EditDialogProps {
  endpoint: Endpoint
  isOpen: boolean
  onClose: () => void
}

/** Changes where and what the endpoint receives. */
export const EditDialog = ({ endpoint, isOpen, onClose }: EditDialogProps) => (
  <Modal opened={isOpen} onClose={onClose} title="Edit the endpoint" closeButtonProps={{ 'aria-label': 'Close' }} size="lg">
    <EditForm endpoint={endpoint} onClose={onClose} />
  </Modal>
)

/** The form, which starts with the endpoint as it is when the dialog opens. */
function EditForm({ endpoint, onClose }: Omit<EditDialogProps, 'isOpen'>) {
  const [before] = useState(() => formOf(endpoint))
  const [form, setForm] = useState(before)
  const change = useChangeEndpoint(endpoint.id)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate(toBody(form), { onSuccess: onClose })
      }}
    >
      <Stack gap="md">
        <EndpointFields form={form} onChange={setForm} error={change.error} />
        {form.url !== before.url && (
          <Text size="sm">What waits is sent to the new address. No request to the former address begins any more.</Text>
        )}
        {change.error && <ErrorNotice error={change.error} />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={change.isPending} disabled={!form.url.trim()}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
