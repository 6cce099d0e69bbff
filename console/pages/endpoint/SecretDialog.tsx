import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { SecretText } from '../../components/SecretText.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useSigningSecret } from './endpoint-actions.ts'

interface SecretDialogProps {
  webhook_id: string
  isOpen: boolean
  onClose: () => void
}

/** Shows the signing secret, or replaces it and shows the new one. */
export const SecretDialog = ({ webhook_id, isOpen, onClose }: SecretDialogProps) => (
  <Modal opened={isOpen} onClose={onClose} title="Signing secret" closeButtonProps={{ 'aria-label': 'Close' }}>
    <SecretChoice webhook_id={webhook_id} onClose={onClose} />
  </Modal>
)

function SecretChoice({ webhook_id, onClose }: Omit<SecretDialogProps, 'isOpen'>) {
  const canRotate = usePermission('rotate_webhook_secret')
  const reading = useSigningSecret(webhook_id)
  if (reading.data !== undefined)
    return (
      <Stack gap="md">
        {reading.variables.isRotated && (
          <Text size="sm" component="output">
            The secret is replaced. For 24 hours each event is signed with the new and with the former secret.
          </Text>
        )}
        <SecretText secret={reading.data} label="the signing secret" />
        <Group justify="flex-end">
          <Button onClick={onClose}>Close</Button>
        </Group>
      </Stack>
    )
  return (
    <Stack gap="md">
      <Text size="sm">Showing the secret is written to the audit log.</Text>
      {canRotate && (
        <Text size="sm">
          Rotating makes a new secret. The former one signs beside it for 24 hours, so that your program can change over without
          refusing an event.
        </Text>
      )}
      {reading.error && <ErrorNotice error={reading.error} />}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        {canRotate && (
          <Button
            variant="default"
            loading={reading.isPending && reading.variables.isRotated}
            onClick={() => reading.mutate({ isRotated: true })}
          >
            Rotate secret
          </Button>
        )}
        <Button loading={reading.isPending && !reading.variables.isRotated} onClick={() => reading.mutate({ isRotated: false })}>
          Show secret
        </Button>
      </Group>
    </Stack>
  )
}
