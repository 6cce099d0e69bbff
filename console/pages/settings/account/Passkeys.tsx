import { Button, Modal, Skeleton, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { Delayed } from '../../../components/Delayed.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { RelativeTime } from '../../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../../components/ScrollRegion.tsx'
import { passkeyObstacle, type Passkey } from '../../../session/passkeys.ts'
import { Section } from '../Section.tsx'
import { usePasskeys, useRemovePasskey } from './account-queries.ts'
import { AddPasskeyForm } from './AddPasskeyForm.tsx'
import classes from '../long-text.module.css'

/** The passkeys of the member: add one of this browser, remove others. */
export function Passkeys() {
  const passkeys = usePasskeys()
  const [isAdding, { open, close }] = useDisclosure()
  const obstacle = passkeyObstacle()
  return (
    <Section
      title="Passkeys"
      description={
        obstacle ??
        `A passkey signs you in without the password, and is needed after it. It works at the host name ${location.hostname} alone, and at no IP address.`
      }
      actions={
        <Button size="compact-sm" variant="default" disabled={obstacle !== undefined} onClick={open}>
          Add a passkey
        </Button>
      }
    >
      {passkeys.error && <ErrorNotice error={passkeys.error} onRetry={() => void passkeys.refetch()} />}
      {!passkeys.data && !passkeys.error && (
        <Delayed>
          <Skeleton height={80} />
        </Delayed>
      )}
      {passkeys.data?.length === 0 && (
        <EmptyState title="No passkeys">With a passkey, nobody who learns your password can sign in as you.</EmptyState>
      )}
      {passkeys.data && passkeys.data.length > 0 && <PasskeyTable passkeys={passkeys.data} />}
      <Modal opened={isAdding} onClose={close} title="Add a passkey" closeButtonProps={{ 'aria-label': 'Close' }}>
        <AddPasskeyForm onAdded={close} />
      </Modal>
    </Section>
  )
}

function PasskeyTable({ passkeys }: { passkeys: readonly Passkey[] }) {
  const remove = useRemovePasskey()
  // The dialog keeps its passkey: the list is read again meanwhile.
  const [removal, setRemoval] = useState<{ passkey: Passkey; isLast: boolean }>()
  const [isConfirming, { open, close }] = useDisclosure()
  return (
    <>
      <ScrollRegion label="Passkeys">
        <Table aria-label="Passkeys">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th visibleFrom="sm">Added</Table.Th>
              <Table.Th>Last used</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {passkeys.map((passkey) => (
              <Table.Tr key={passkey.id}>
                <Table.Td className={classes.longText}>{passkey.name}</Table.Td>
                <Table.Td visibleFrom="sm">
                  <RelativeTime value={passkey.created_at} />
                </Table.Td>
                <Table.Td>{passkey.last_used_at === null ? 'not yet' : <RelativeTime value={passkey.last_used_at} />}</Table.Td>
                <Table.Td ta="right">
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={`Remove the passkey ${passkey.name}`}
                    onClick={() => {
                      setRemoval({ passkey, isLast: passkeys.length === 1 })
                      open()
                    }}
                  >
                    Remove
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
      {removal && (
        <ConfirmDialog
          isOpen={isConfirming}
          onClose={close}
          title={`Remove the passkey ${removal.passkey.name}`}
          action="Remove passkey"
          onConfirm={() => remove(removal.passkey.id)}
        >
          <Text size="sm">
            It signs nobody in from then on.{' '}
            {removal.isLast ? 'It is your last one: the password alone signs you in.' : 'Your other passkeys go on working.'}
          </Text>
        </ConfirmDialog>
      )}
    </>
  )
}
