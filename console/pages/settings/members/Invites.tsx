import { Button, Flex, Modal, Skeleton, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { Delayed } from '../../../components/Delayed.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { RelativeTime } from '../../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../../components/ScrollRegion.tsx'
import { usePermission } from '../../../session/permissions.ts'
import { useSession } from '../../../session/session.ts'
import { creatorInWords } from '../people.ts'
import { Section } from '../Section.tsx'
import { InviteForm } from './InviteForm.tsx'
import { InviteLinkDialog } from './InviteLinkDialog.tsx'
import { useInviteChanges, useInvites, type Invite } from './member-queries.ts'
import { roleInWords } from './roles.ts'
import classes from '../long-text.module.css'

/** People who are invited and have not accepted. */
export function Invites() {
  const invites = useInvites()
  const canInvite = usePermission('create_or_resend_invite_in_org')
  const [isInviting, { open, close }] = useDisclosure()
  return (
    <Section
      title="Invitations"
      description="Each is valid for seven days. Inviting an address again replaces the role and the link."
      actions={
        canInvite && (
          <Button size="compact-sm" onClick={open}>
            Invite a person
          </Button>
        )
      }
    >
      {invites.error && <ErrorNotice error={invites.error} onRetry={() => void invites.refetch()} />}
      {invites.isPending && (
        <Delayed>
          <Skeleton height={80} />
        </Delayed>
      )}
      {invites.data?.length === 0 && (
        <EmptyState title="No open invitations">People who are invited are here until they accept.</EmptyState>
      )}
      {invites.data && invites.data.length > 0 && <InviteTable invites={invites.data} />}
      {invites.hasNextPage && (
        <Button
          variant="subtle"
          size="compact-sm"
          loading={invites.isFetchingNextPage}
          onClick={() => void invites.fetchNextPage()}
        >
          Load more
        </Button>
      )}
      <Modal
        opened={isInviting}
        onClose={close}
        title="Invite a person"
        closeOnClickOutside={false}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <InviteForm onClose={close} />
      </Modal>
    </Section>
  )
}

interface OpenAction {
  kind: 'link' | 'revoke'
  /** A copy: the list is read again meanwhile. */
  invite: Invite
}

function InviteTable({ invites }: { invites: readonly Invite[] }) {
  const { revoke } = useInviteChanges()
  const [action, setAction] = useState<OpenAction>()
  const [isOpen, { open, close }] = useDisclosure()
  const start = (kind: OpenAction['kind'], invite: Invite): void => {
    setAction({ kind, invite })
    open()
  }
  return (
    <>
      <ScrollRegion label="Invitations">
        <Table miw={{ base: 0, sm: 680 }} aria-label="Invitations">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Email</Table.Th>
              <Table.Th>Role</Table.Th>
              <Table.Th visibleFrom="sm">Invited</Table.Th>
              <Table.Th visibleFrom="sm">By</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {invites.map((invite) => (
              <InviteRow key={invite.id} invite={invite} onStart={(kind) => start(kind, invite)} />
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
      {action?.kind === 'link' && <InviteLinkDialog invite={action.invite} isOpen={isOpen} onClose={close} />}
      {action?.kind === 'revoke' && (
        <ConfirmDialog
          isOpen={isOpen}
          onClose={close}
          title={`Revoke the invitation of ${action.invite.email}`}
          action="Revoke invitation"
          onConfirm={() => revoke(action.invite.id)}
        >
          <Text size="sm">
            The link of the invitation stops working at once. No message is sent. You can invite the address again.
          </Text>
        </ConfirmDialog>
      )}
    </>
  )
}

function InviteRow({ invite, onStart }: { invite: Invite; onStart: (kind: OpenAction['kind']) => void }) {
  const { teams } = useSession()
  const canLink = usePermission('create_invite_link')
  const canRevoke = usePermission('revoke_invite_in_org')
  return (
    <Table.Tr>
      <Table.Td className={classes.longText}>{invite.email}</Table.Td>
      <Table.Td>{roleInWords(invite, teams)}</Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime value={invite.resent_at ?? invite.invited_at} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{creatorInWords(invite.creator)}</Table.Td>
      <Table.Td>
        <Flex gap="xs" justify="flex-end" wrap={{ base: 'wrap', sm: 'nowrap' }}>
          {canLink && (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Create link for ${invite.email}`}
              onClick={() => onStart('link')}
            >
              Create link
            </Button>
          )}
          {canRevoke && (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Revoke the invitation of ${invite.email}`}
              onClick={() => onStart('revoke')}
            >
              Revoke
            </Button>
          )}
        </Flex>
      </Table.Td>
    </Table.Tr>
  )
}
