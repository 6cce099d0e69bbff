import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { usePermissions, type OperationId } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import type { Endpoint } from '../endpoints/endpoint-queries.ts'
import { EditDialog } from './EditDialog.tsx'
import { useChangeEndpoint, useDeleteEndpoint } from './endpoint-actions.ts'
import { ExampleDialog } from './ExampleDialog.tsx'
import { HeadersDialog } from './HeadersDialog.tsx'
import { ReplayDialog } from './ReplayDialog.tsx'
import { SecretDialog } from './SecretDialog.tsx'
import classes from './EndpointPage.module.css'

type Action = 'example' | 'replay' | 'edit' | 'headers' | 'secret' | 'disabled' | 'delete'

/** What can be done with the endpoint; each says in its dialog what it will do. */
export function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  const isPermitted = usePermissions()
  const [action, setAction] = useState<Action>()
  const close = (): void => setAction(undefined)
  const buttons: readonly { name: Action; label: string; operation: OperationId; isHidden?: boolean }[] = [
    { name: 'example', label: 'Send an example', operation: 'test_webhook', isHidden: endpoint.disabled },
    { name: 'replay', label: 'Replay events', operation: 'replay_webhook', isHidden: endpoint.disabled },
    { name: 'edit', label: 'Edit', operation: 'patch_webhook' },
    { name: 'headers', label: 'Headers', operation: 'update_webhook_headers' },
    { name: 'secret', label: 'Signing secret', operation: 'get_webhook_secret' },
    { name: 'disabled', label: endpoint.disabled ? 'Enable' : 'Disable', operation: 'patch_webhook' },
    { name: 'delete', label: 'Delete', operation: 'delete_webhook' },
  ]
  const shown = buttons.filter(({ operation, isHidden }) => isPermitted(operation) && !isHidden)
  if (!shown.length) return null
  return (
    <Group gap="sm">
      {shown.map(({ name, label }) => (
        <Button
          key={name}
          size="xs"
          variant="default"
          c={name === 'delete' ? 'var(--failed)' : undefined}
          onClick={() => setAction(name)}
        >
          {label}
        </Button>
      ))}
      <ExampleDialog endpoint={endpoint} isOpen={action === 'example'} onClose={close} />
      <ReplayDialog webhook_id={endpoint.id} isOpen={action === 'replay'} onClose={close} />
      <EditDialog endpoint={endpoint} isOpen={action === 'edit'} onClose={close} />
      <HeadersDialog webhook_id={endpoint.id} isOpen={action === 'headers'} onClose={close} />
      <SecretDialog webhook_id={endpoint.id} isOpen={action === 'secret'} onClose={close} />
      <DisableDialog endpoint={endpoint} isOpen={action === 'disabled'} onClose={close} />
      <DeleteDialog endpoint={endpoint} isOpen={action === 'delete'} onClose={close} />
    </Group>
  )
}

interface DialogProps {
  endpoint: Endpoint
  isOpen: boolean
  onClose: () => void
}

/** Disables the endpoint, or enables it again. */
function DisableDialog({ endpoint: { id, url, disabled }, isOpen, onClose }: DialogProps) {
  const change = useChangeEndpoint(id)
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={disabled ? 'Enable the endpoint' : 'Disable the endpoint'}
      action={disabled ? 'Enable endpoint' : 'Disable endpoint'}
      onConfirm={() => change.mutateAsync({ disabled: !disabled })}
    >
      <Text size="sm" className={classes.text}>
        {disabled
          ? `New events are sent to ${url} again. Those that were stopped or came meanwhile are not: replay them afterwards.`
          : `Nothing is sent to ${url} any more, and what waits for it stops. Enabling it does not take that up again; a replay does.`}
      </Text>
    </ConfirmDialog>
  )
}

function DeleteDialog({ endpoint: { id, url }, isOpen, onClose }: DialogProps) {
  const { pathTo } = useTeam()
  const navigate = useNavigate()
  const deleteEndpoint = useDeleteEndpoint(id)
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title="Delete the endpoint"
      action="Delete endpoint"
      nameToType={url}
      onConfirm={async () => {
        await deleteEndpoint()
        void navigate(pathTo('events/endpoints'))
      }}
    >
      <Text size="sm">
        Nothing is sent to it any more. Its signing secret, its headers and the log of its deliveries are deleted. The events
        stay.
      </Text>
    </ConfirmDialog>
  )
}
