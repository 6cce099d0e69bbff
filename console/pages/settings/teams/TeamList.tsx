import { Anchor, Button, Modal, Skeleton, Table, TextInput } from '@mantine/core'
import { useDebouncedValue, useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { Link } from 'react-router'
import { Delayed } from '../../../components/Delayed.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { IdText } from '../../../components/IdText.tsx'
import { RelativeTime } from '../../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../../components/ScrollRegion.tsx'
import { usePermission } from '../../../session/permissions.ts'
import { useSession } from '../../../session/session.ts'
import { useTeam } from '../../../session/team.ts'
import { Section } from '../Section.tsx'
import { NewTeamForm } from './NewTeamForm.tsx'
import { useTeams, type TeamItem } from './team-queries.ts'

const SEARCH_DELAY_MS = 250
const NAME_LENGTH_MAX = 80

/** The teams that the member may see, newest first. */
export function TeamList() {
  const { org } = useSession()
  const canCreate = usePermission('create_team_in_org')
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), SEARCH_DELAY_MS)
  const teams = useTeams(search)
  const [isCreating, { open, close }] = useDisclosure()
  return (
    <Section
      title="Teams"
      description={`Teams of ${org.name} have their own users, orders, keys and endpoints, in a sandbox and in production of one region.`}
      actions={
        canCreate && (
          <Button size="compact-sm" onClick={open}>
            Create a team
          </Button>
        )
      }
    >
      <TextInput
        aria-label="Search teams"
        placeholder="Name"
        maw={320}
        maxLength={NAME_LENGTH_MAX}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {teams.error && <ErrorNotice error={teams.error} onRetry={() => void teams.refetch()} />}
      {teams.isPending && (
        <Delayed>
          <Skeleton height={160} />
        </Delayed>
      )}
      {teams.data?.length === 0 && <EmptyState title="No team matches">No team has this in its name.</EmptyState>}
      {teams.data && teams.data.length > 0 && <TeamTable teams={teams.data} />}
      {teams.hasNextPage && (
        <Button variant="subtle" size="compact-sm" loading={teams.isFetchingNextPage} onClick={() => void teams.fetchNextPage()}>
          Load more
        </Button>
      )}
      <Modal opened={isCreating} onClose={close} title="Create a team" closeButtonProps={{ 'aria-label': 'Close' }}>
        <NewTeamForm />
      </Modal>
    </Section>
  )
}

function TeamTable({ teams }: { teams: readonly TeamItem[] }) {
  const { pathTo } = useTeam()
  return (
    <ScrollRegion label="Teams">
      <Table miw={{ base: 0, sm: 560 }} aria-label="Teams">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Region</Table.Th>
            <Table.Th visibleFrom="sm">Your reference</Table.Th>
            <Table.Th visibleFrom="sm">Created</Table.Th>
            <Table.Th>Id</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {teams.map(({ id, name, region, integration_team_id, created_on }) => (
            <Table.Tr key={id}>
              <Table.Td>
                <Anchor component={Link} size="sm" to={pathTo(`settings/teams?team_id=${id}`)}>
                  {name || 'Without a name'}
                </Anchor>
              </Table.Td>
              <Table.Td>{region.toUpperCase()}</Table.Td>
              <Table.Td visibleFrom="sm">{integration_team_id}</Table.Td>
              <Table.Td visibleFrom="sm">
                <RelativeTime value={created_on} />
              </Table.Td>
              <Table.Td>
                <IdText id={id} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollRegion>
  )
}
