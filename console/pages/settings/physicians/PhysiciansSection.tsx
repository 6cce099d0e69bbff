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
import { Section } from '../Section.tsx'
import { AddPhysicianForm } from './AddPhysicianForm.tsx'
import { usePhysicians, useRemovePhysician, type Physician } from './physician-queries.ts'

/** The physicians in whose name orders of the team go out. */
export function PhysiciansSection() {
  const physicians = usePhysicians()
  const canAdd = usePermission('add_team_service_physician')
  const [isAdding, { open, close }] = useDisclosure()
  return (
    <Section
      title="Physicians"
      description="An order that names no physician goes out in the name of the first one added for the patient's state, or else of the first one for every state. Under a lab account whose ordering is delegated, every order names a physician itself."
      actions={
        canAdd && (
          <Button size="compact-sm" variant="default" onClick={open}>
            Add a physician
          </Button>
        )
      }
    >
      {physicians.error && <ErrorNotice error={physicians.error} onRetry={() => void physicians.refetch()} />}
      {!physicians.data && !physicians.error && (
        <Delayed>
          <Skeleton height={144} />
        </Delayed>
      )}
      {physicians.data?.length === 0 && (
        <EmptyState title="No physicians">
          Physicians who order for this team in this environment appear here, with the states in which they do.
        </EmptyState>
      )}
      {physicians.data && physicians.data.length > 0 && <PhysicianTable physicians={physicians.data} />}
      <Modal opened={isAdding} onClose={close} title="Add a physician" closeButtonProps={{ 'aria-label': 'Close' }}>
        <AddPhysicianForm onAdded={close} />
      </Modal>
    </Section>
  )
}

const nameOf = ({ first_name, last_name }: Physician): string => `${first_name} ${last_name}`

function PhysicianTable({ physicians }: { physicians: readonly Physician[] }) {
  const canRemove = usePermission('remove_team_service_physician')
  const remove = useRemovePhysician()
  // The dialog keeps its physician: the list is read again meanwhile.
  const [removal, setRemoval] = useState<Physician>()
  const [isConfirming, { open, close }] = useDisclosure()
  return (
    <>
      <ScrollRegion label="Physicians">
        <Table miw={560} aria-label="Physicians">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>NPI</Table.Th>
              <Table.Th>States</Table.Th>
              <Table.Th>Added</Table.Th>
              {canRemove && <Table.Th aria-label="Actions" />}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {physicians.map((physician) => (
              <Table.Tr key={physician.id}>
                <Table.Td>{nameOf(physician)}</Table.Td>
                <Table.Td>{physician.npi}</Table.Td>
                <Table.Td>{physician.states.length ? physician.states.join(', ') : 'every state'}</Table.Td>
                <Table.Td>
                  <RelativeTime value={physician.created_at} />
                </Table.Td>
                {canRemove && (
                  <Table.Td ta="right">
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={`Remove ${nameOf(physician)}`}
                      onClick={() => {
                        setRemoval(physician)
                        open()
                      }}
                    >
                      Remove
                    </Button>
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
      {removal && (
        <ConfirmDialog
          isOpen={isConfirming}
          onClose={close}
          title={`Remove ${nameOf(removal)}`}
          action="Remove physician"
          nameToType={removal.last_name}
          onConfirm={() => remove(removal.id)}
        >
          <Text size="sm">
            New orders go out in the name of the next physician for their state; without one they have none. Orders that name this
            physician do not change.
          </Text>
        </ConfirmDialog>
      )}
    </>
  )
}
