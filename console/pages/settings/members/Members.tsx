import { Button, Flex, Skeleton, Table, Text, TextInput } from '@mantine/core'
import { useDebouncedValue, useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { Delayed } from '../../../components/Delayed.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { RelativeTime } from '../../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../../components/ScrollRegion.tsx'
import { StatusBadge } from '../../../components/StatusBadge.tsx'
import { usePermission } from '../../../session/permissions.ts'
import { useSession } from '../../../session/session.ts'
import { Section } from '../Section.tsx'
import { ChangeRole } from './ChangeRole.tsx'
import { useMemberChanges, useMembers, type Member } from './member-queries.ts'
import { roleInWords } from './roles.ts'
import classes from '../long-text.module.css'

const SEARCH_DELAY_MS = 250
const SEARCH_LENGTH_MAX = 200

/** The members of the organization with their roles. */
export function Members() {
  const { org } = useSession()
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), SEARCH_DELAY_MS)
  const members = useMembers(search)
  return (
    <Section title="Members" description={`The people of ${org.name}, and what they may do.`}>
      <TextInput
        aria-label="Search members"
        placeholder="Name or email"
        maw={320}
        maxLength={SEARCH_LENGTH_MAX}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {members.error && <ErrorNotice error={members.error} onRetry={() => void members.refetch()} />}
      {members.isPending && (
        <Delayed>
          <Skeleton height={160} />
        </Delayed>
      )}
      {members.data?.length === 0 && <EmptyState title="Nobody matches">No member has this in the name or the email.</EmptyState>}
      {members.data && members.data.length > 0 && <MemberTable members={members.data} />}
      {members.hasNextPage && (
        <Button
          variant="subtle"
          size="compact-sm"
          loading={members.isFetchingNextPage}
          onClick={() => void members.fetchNextPage()}
        >
          Load more
        </Button>
      )}
    </Section>
  )
}

interface OpenAction {
  kind: 'role' | 'remove'
  /** A copy: the list is read again meanwhile. */
  member: Member
}

function MemberTable({ members }: { members: readonly Member[] }) {
  const [action, setAction] = useState<OpenAction>()
  const [isOpen, { open, close }] = useDisclosure()
  const start = (kind: OpenAction['kind'], member: Member): void => {
    setAction({ kind, member })
    open()
  }
  return (
    <>
      <ScrollRegion label="Members">
        <Table miw={{ base: 0, sm: 680 }} aria-label="Members">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th visibleFrom="sm">Email</Table.Th>
              <Table.Th>Role</Table.Th>
              <Table.Th visibleFrom="sm">Joined</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {members.map((member) => (
              <MemberRow key={member.id} member={member} onStart={(kind) => start(kind, member)} />
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
      {action?.kind === 'role' && <ChangeRole member={action.member} isOpen={isOpen} onClose={close} />}
      {action?.kind === 'remove' && <RemoveMember member={action.member} isOpen={isOpen} onClose={close} />}
    </>
  )
}

function MemberRow({ member, onStart }: { member: Member; onStart: (kind: OpenAction['kind']) => void }) {
  const { member: self, teams } = useSession()
  const canUpdate = usePermission('update_member')
  const canRemove = usePermission('remove_member_from_org')
  return (
    <Table.Tr>
      <Table.Td>
        {member.name} {member.id === self.id && <StatusBadge tone="neutral">you</StatusBadge>}
        <Text size="xs" c="dimmed" hiddenFrom="sm" className={classes.longText}>
          {member.email}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">{member.email}</Table.Td>
      <Table.Td>{roleInWords(member, teams)}</Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime value={member.created_on} />
      </Table.Td>
      <Table.Td>
        <Flex gap="xs" justify="flex-end" wrap={{ base: 'wrap', sm: 'nowrap' }}>
          {canUpdate && (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Change role of ${member.name}`}
              onClick={() => onStart('role')}
            >
              Change role
            </Button>
          )}
          {canRemove && (
            <Button size="compact-sm" variant="default" aria-label={`Remove ${member.name}`} onClick={() => onStart('remove')}>
              Remove
            </Button>
          )}
        </Flex>
      </Table.Td>
    </Table.Tr>
  )
}

function RemoveMember({ member, isOpen, onClose }: { member: Member; isOpen: boolean; onClose: () => void }) {
  const { member: self, org } = useSession()
  const { remove } = useMemberChanges()
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Remove ${member.name}`}
      action="Remove member"
      nameToType={member.email}
      onConfirm={() => remove(member.id)}
    >
      <Text size="sm">
        {member.id === self.id ? 'You leave' : `${member.name} leaves`} {org.name}: all sessions end, and keys that were created
        for this person stop working. Keys of programs go on.
      </Text>
    </ConfirmDialog>
  )
}
