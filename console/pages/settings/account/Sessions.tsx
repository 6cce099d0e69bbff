import { Button, Group, Skeleton, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { Delayed } from '../../../components/Delayed.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { RelativeTime } from '../../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../../components/ScrollRegion.tsx'
import { StatusBadge } from '../../../components/StatusBadge.tsx'
import { Section } from '../Section.tsx'
import { useEndSession, useEndSessions, useSessions, type ConsoleSession } from './account-queries.ts'
import { browserInWords } from './browser-in-words.ts'

/** The sessions of the member, which can be ended one by one and all at once. */
export function Sessions() {
  const sessions = useSessions()
  return (
    <Section
      title="Sessions"
      description="Browsers that are signed in as you. End those that you do not know, and change the password."
      actions={sessions.data && <EndAllSessions sessions={sessions.data} />}
    >
      {sessions.error && <ErrorNotice error={sessions.error} onRetry={() => void sessions.refetch()} />}
      {!sessions.data && !sessions.error && (
        <Delayed>
          <Skeleton height={120} />
        </Delayed>
      )}
      {sessions.data && <SessionTable sessions={sessions.data} />}
    </Section>
  )
}

const METHODS: Partial<Record<string, string>> = {
  demo: 'Demo',
  password: 'Password',
  passkey: 'Passkey',
  oidc: 'Single sign-on',
  link: 'One-time link',
}

function SessionTable({ sessions }: { sessions: readonly ConsoleSession[] }) {
  const end = useEndSession()
  return (
    <Stack gap="sm">
      {end.error && <ErrorNotice error={end.error} />}
      <ScrollRegion label="Sessions">
        <Table miw={{ base: 0, sm: 620 }} aria-label="Sessions">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Browser</Table.Th>
              <Table.Th visibleFrom="sm">Signed in by</Table.Th>
              <Table.Th visibleFrom="sm">Address</Table.Th>
              <Table.Th>Last seen</Table.Th>
              <Table.Th visibleFrom="sm">Signed in</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sessions.map((session) => (
              <Table.Tr key={session.id}>
                <Table.Td title={session.user_agent}>
                  <Group gap="sm">
                    {browserInWords(session.user_agent)}
                    {session.is_current && <StatusBadge tone="good">this browser</StatusBadge>}
                  </Group>
                </Table.Td>
                <Table.Td visibleFrom="sm">{METHODS[session.method] ?? session.method}</Table.Td>
                <Table.Td visibleFrom="sm">{session.address}</Table.Td>
                <Table.Td>
                  <RelativeTime value={session.last_seen_at} />
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <RelativeTime value={session.created_at} />
                </Table.Td>
                <Table.Td ta="right">
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={session.is_current ? 'End this session and sign out' : `End the session at ${session.address}`}
                    loading={end.isPending && end.variables.id === session.id}
                    onClick={() => end.mutate(session)}
                  >
                    {session.is_current ? 'Sign out' : 'End'}
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
    </Stack>
  )
}

function EndAllSessions({ sessions }: { sessions: readonly ConsoleSession[] }) {
  const endSessions = useEndSessions()
  const [isConfirmingOthers, others] = useDisclosure()
  const [isConfirmingAll, all] = useDisclosure()
  const otherCount = sessions.filter(({ is_current }) => !is_current).length
  return (
    <Group gap="sm">
      <Button size="compact-sm" variant="default" disabled={otherCount === 0} onClick={others.open}>
        End all others
      </Button>
      <Button size="compact-sm" variant="default" onClick={all.open}>
        End all
      </Button>
      <ConfirmDialog
        isOpen={isConfirmingOthers}
        onClose={others.close}
        title="End all other sessions"
        action="End all others"
        onConfirm={() => endSessions(true)}
      >
        <Text size="sm">
          {otherCount === 1 ? '1 other browser is' : `${otherCount} other browsers are`} signed out within seconds. This one stays
          signed in.
        </Text>
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={isConfirmingAll}
        onClose={all.close}
        title="End all sessions"
        action="End all"
        onConfirm={() => endSessions(false)}
      >
        <Text size="sm">You are signed out in every browser, also in this one.</Text>
      </ConfirmDialog>
    </Group>
  )
}
