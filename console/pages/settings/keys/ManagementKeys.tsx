import { Button, Flex, Modal, Skeleton, Table } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { Delayed } from '../../../components/Delayed.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { RelativeTime } from '../../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../../components/ScrollRegion.tsx'
import { usePermission } from '../../../session/permissions.ts'
import { useSession, type Session } from '../../../session/session.ts'
import { creatorInWords } from '../people.ts'
import { Section } from '../Section.tsx'
import { useManagementKeys, type ManagementKey } from './key-queries.ts'
import classes from '../long-text.module.css'
import { KeyUse } from './KeyUse.tsx'
import { DeleteManagementKey, RotateManagementKey } from './ManagementKeyActions.tsx'
import { NewManagementKeyForm } from './NewManagementKeyForm.tsx'

/** The management keys of the organization. */
export function ManagementKeys() {
  const { org } = useSession()
  const keys = useManagementKeys()
  const canCreate = usePermission('create_management_key')
  const [isCreating, { open, close }] = useDisclosure()
  return (
    <Section
      title="Management keys"
      description={`With one of these, programs manage teams of ${org.name}: their keys, endpoints and settings. A program with such a key can issue itself keys of these teams, so it reaches their patients too.`}
      actions={
        canCreate && (
          <Button size="compact-sm" variant="default" onClick={open}>
            Create a management key
          </Button>
        )
      }
    >
      {keys.error && <ErrorNotice error={keys.error} onRetry={() => void keys.refetch()} />}
      {keys.isPending && (
        <Delayed>
          <Skeleton height={120} />
        </Delayed>
      )}
      {keys.data?.length === 0 && (
        <EmptyState title="No management keys">A program needs one to call the Management API.</EmptyState>
      )}
      {keys.data && keys.data.length > 0 && <ManagementKeyTable keys={keys.data} />}
      {keys.hasNextPage && (
        <Button variant="subtle" size="compact-sm" loading={keys.isFetchingNextPage} onClick={() => void keys.fetchNextPage()}>
          Load more
        </Button>
      )}
      <Modal
        opened={isCreating}
        onClose={close}
        title="Create a management key"
        closeOnClickOutside={false}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <NewManagementKeyForm onClose={close} />
      </Modal>
    </Section>
  )
}

interface OpenAction {
  kind: 'rotate' | 'delete'
  /** A copy: the list is read again meanwhile. */
  key: ManagementKey
}

function ManagementKeyTable({ keys }: { keys: readonly ManagementKey[] }) {
  const { teams } = useSession()
  const canRotate = usePermission('rotate_management_key')
  const canDelete = usePermission('remove_management_key')
  const [action, setAction] = useState<OpenAction>()
  const [isOpen, { open, close }] = useDisclosure()
  const start = (kind: OpenAction['kind'], key: ManagementKey): void => {
    setAction({ kind, key })
    open()
  }
  return (
    <>
      <ScrollRegion label="Management keys">
        <Table miw={{ base: 0, sm: 760 }} aria-label="Management keys">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Label</Table.Th>
              <Table.Th visibleFrom="sm">Reaches</Table.Th>
              <Table.Th>Last used</Table.Th>
              <Table.Th visibleFrom="sm">Created</Table.Th>
              <Table.Th visibleFrom="sm">Created by</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {keys.map((key) => (
              <Table.Tr key={key.id}>
                <Table.Td className={classes.longText}>{key.label}</Table.Td>
                <Table.Td visibleFrom="sm">{reachInWords(key, teams)}</Table.Td>
                <Table.Td>
                  <KeyUse {...key} />
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <RelativeTime value={key.created_at} />
                </Table.Td>
                <Table.Td visibleFrom="sm">{creatorInWords(key.creator)}</Table.Td>
                <Table.Td>
                  <Flex gap="xs" justify="flex-end" wrap={{ base: 'wrap', sm: 'nowrap' }}>
                    {canRotate && (
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={`Rotate the key ${key.label}`}
                        onClick={() => start('rotate', key)}
                      >
                        Rotate
                      </Button>
                    )}
                    {canDelete && (
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={`Delete the key ${key.label}`}
                        onClick={() => start('delete', key)}
                      >
                        Delete
                      </Button>
                    )}
                  </Flex>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
      {action?.kind === 'rotate' && <RotateManagementKey managementKey={action.key} isOpen={isOpen} onClose={close} />}
      {action?.kind === 'delete' && <DeleteManagementKey managementKey={action.key} isOpen={isOpen} onClose={close} />}
    </>
  )
}

/** The teams of a key by their names. */
function reachInWords({ role, team_role_bindings }: ManagementKey, teams: Session['teams']): string {
  if (role === 'org_admin') return 'The organization'
  const names = (team_role_bindings ?? []).map(({ team_id }) => teams.find(({ id }) => id === team_id)?.name ?? team_id)
  return names.join(', ') || 'No team'
}
