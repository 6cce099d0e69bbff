import { Button, Modal, Skeleton, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { Delayed } from '../../../components/Delayed.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { RelativeTime } from '../../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../../components/ScrollRegion.tsx'
import { usePermission } from '../../../session/permissions.ts'
import { useTeam } from '../../../session/team.ts'
import { creatorInWords } from '../people.ts'
import { Section } from '../Section.tsx'
import { KeyUse } from './KeyUse.tsx'
import { NewTeamKey } from './NewTeamKey.tsx'
import classes from '../long-text.module.css'
import { useDeleteTeamKey, useTeamKeys, type TeamKey } from './key-queries.ts'

/** The keys of the team in the environment of the page. */
export function TeamKeys() {
  const { team, environment, region } = useTeam()
  const keys = useTeamKeys()
  const canCreate = usePermission('create_team_api_key')
  const [isCreating, { open, close }] = useDisclosure()
  return (
    <Section
      title={`Keys of the team, ${environment}`}
      description={`With one of these, programs reach ${team.name} in ${environment} ${region.toUpperCase()} and nothing else. Uses are recorded once a minute.`}
      actions={
        canCreate && (
          <Button size="compact-sm" variant="default" onClick={open}>
            Create a key
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
      {keys.data?.length === 0 && <EmptyState title="No keys">A program needs a key to call the API for this team.</EmptyState>}
      {keys.data && keys.data.length > 0 && <TeamKeyTable keys={keys.data} />}
      {keys.hasNextPage && (
        <Button variant="subtle" size="compact-sm" loading={keys.isFetchingNextPage} onClick={() => void keys.fetchNextPage()}>
          Load more
        </Button>
      )}
      <Modal
        opened={isCreating}
        onClose={close}
        title={`Create a key of ${team.name}, ${environment}`}
        closeOnClickOutside={false}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <NewTeamKey onClose={close} />
      </Modal>
    </Section>
  )
}

function TeamKeyTable({ keys }: { keys: readonly TeamKey[] }) {
  const deleteKey = useDeleteTeamKey()
  // The dialog keeps its key: the list is read again meanwhile.
  const [deletion, setDeletion] = useState<TeamKey>()
  const [isConfirming, { open, close }] = useDisclosure()
  return (
    <>
      <ScrollRegion label="Keys of the team">
        <Table miw={{ base: 0, sm: 680 }} aria-label="Keys of the team">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Label</Table.Th>
              <Table.Th visibleFrom="sm">Key</Table.Th>
              <Table.Th>Last used</Table.Th>
              <Table.Th visibleFrom="sm">Created</Table.Th>
              <Table.Th visibleFrom="sm">Created by</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {keys.map((key) => (
              <TeamKeyRow
                key={key.id}
                teamKey={key}
                onDelete={() => {
                  setDeletion(key)
                  open()
                }}
              />
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
      {deletion && (
        <ConfirmDialog
          isOpen={isConfirming}
          onClose={close}
          title={`Delete the key ${deletion.label}`}
          action="Delete key"
          nameToType={deletion.label}
          onConfirm={() => deleteKey(deletion.id)}
        >
          <Text size="sm">
            Programs that use {deletion.value} are refused within 5 seconds. It cannot be restored. Last used:{' '}
            <KeyUse {...deletion} />.
          </Text>
        </ConfirmDialog>
      )}
    </>
  )
}

function TeamKeyRow({ teamKey, onDelete }: { teamKey: TeamKey; onDelete: () => void }) {
  const canDelete = usePermission('delete_team_api_keys')
  return (
    <Table.Tr>
      <Table.Td className={classes.longText}>
        {teamKey.label}
        {teamKey.member_id !== null && (
          <Text size="xs" c="dimmed">
            for one member, with whom it is removed
          </Text>
        )}
      </Table.Td>
      <Table.Td ff="monospace" visibleFrom="sm">
        {teamKey.value}
      </Table.Td>
      <Table.Td>
        <KeyUse {...teamKey} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime value={teamKey.created_at} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{creatorInWords(teamKey.creator)}</Table.Td>
      <Table.Td ta="right">
        {canDelete && (
          <Button size="compact-sm" variant="default" aria-label={`Delete the key ${teamKey.label}`} onClick={onDelete}>
            Delete
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  )
}
