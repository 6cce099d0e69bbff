import { Anchor, Button, Skeleton, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, useNavigate } from 'react-router'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { Delayed } from '../../../components/Delayed.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { Facts } from '../../../components/Facts.tsx'
import { IdText } from '../../../components/IdText.tsx'
import { RelativeTime } from '../../../components/RelativeTime.tsx'
import { usePermission } from '../../../session/permissions.ts'
import { useTeam } from '../../../session/team.ts'
import { Section } from '../Section.tsx'
import { EnvironmentForm } from './EnvironmentForm.tsx'
import { TeamNames } from './TeamNames.tsx'
import { ENVIRONMENTS, useDeleteTeam, useTeamSettings, type OrgTeam } from './team-queries.ts'

/** One team: what it is called, and its settings in each environment. */
export function TeamSettings({ team_id }: { team_id: string }) {
  const { pathTo } = useTeam()
  const team = useTeamSettings(team_id)
  return (
    <Stack gap="lg">
      <Anchor component={Link} size="sm" to={pathTo('settings/teams')}>
        All teams
      </Anchor>
      {team.error && !team.data && <ErrorNotice error={team.error} onRetry={() => void team.refetch()} />}
      {!team.data && !team.error && (
        <Delayed>
          <Skeleton height={320} />
        </Delayed>
      )}
      {team.data && <LoadedTeam team={team.data} />}
    </Stack>
  )
}

const LoadedTeam = ({ team }: { team: OrgTeam }) => (
  <Stack gap="xl">
    <Section title={team.name || 'Without a name'}>
      <Facts
        facts={[
          { label: 'Id', value: <IdText id={team.id} /> },
          { label: 'Region', value: team.region.toUpperCase() },
          { label: 'Created', value: <RelativeTime value={team.created_on} /> },
        ]}
      />
      <TeamNames team={team} />
    </Section>
    {ENVIRONMENTS.map((environment) => {
      const settings = team[environment]
      return settings && <EnvironmentForm key={environment} team_id={team.id} environment={environment} settings={settings} />
    })}
    <DeleteTeam team={team} />
  </Stack>
)

function DeleteTeam({ team }: { team: OrgTeam }) {
  const { team: openTeam, pathTo } = useTeam()
  const canDelete = usePermission('delete_team_in_org')
  const [isConfirming, { open, close }] = useDisclosure()
  const deleteTeam = useDeleteTeam()
  const navigate = useNavigate()
  if (!canDelete) return null
  // The team whose pages are open is gone afterwards.
  const next = team.id === openTeam.id ? '/' : pathTo('settings/teams')
  return (
    <Section title="Delete the team">
      <Text size="sm" maw={640}>
        Its keys, tokens and deliveries stop at once, in the sandbox and in production, and the team and its users are hidden.
        After seven days their data is erased, and cannot be restored.
      </Text>
      <div>
        <Button variant="default" c="var(--failed)" onClick={open}>
          Delete team
        </Button>
      </div>
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={close}
        title={`Delete the team ${team.name}`}
        action="Delete team"
        nameToType={team.name || team.id}
        onConfirm={() => deleteTeam(team.id, () => navigate(next))}
      >
        <Text size="sm">
          Both environments of {team.name} stop working now. Orders that laboratories have received go on there, and their results
          reach nobody.
        </Text>
      </ConfirmDialog>
    </Section>
  )
}
