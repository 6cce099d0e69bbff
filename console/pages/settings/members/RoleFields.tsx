import { MultiSelect, Select, Stack, Text } from '@mantine/core'
import { useSession } from '../../../session/session.ts'
import type { MemberRole, OrgRole, TeamRole } from './member-queries.ts'
import { ORG_ROLES, TEAM_ROLES } from './roles.ts'

interface RoleFieldsProps {
  value: MemberRole
  onChange: (role: MemberRole) => void
  /** What the API says about the teams. */
  teamsError: string | undefined
}

/** A role in the organization and, where that asks for it, one in each team. */
export function RoleFields({ value, onChange, teamsError }: RoleFieldsProps) {
  const { teams } = useSession()
  const { role, bindings } = value
  const setTeams = (ids: string[]): void =>
    onChange({
      role,
      bindings: ids.map((team_id) => bindings.find((former) => former.team_id === team_id) ?? { team_id, role: 'viewer' }),
    })
  const setTeamRole = (id: string, next: TeamRole): void =>
    onChange({ role, bindings: bindings.map((binding) => (binding.team_id === id ? { team_id: id, role: next } : binding)) })
  return (
    <Stack gap="md">
      <Select
        label="Role"
        data={Object.entries(ORG_ROLES).map(([id, label]) => ({ value: id, label }))}
        value={role}
        allowDeselect={false}
        onChange={(next) => next !== null && onChange({ role: next as OrgRole, bindings })}
      />
      {role === 'team_admin' && (
        <>
          <MultiSelect
            label="Teams"
            data={teams.map(({ id, name, region }) => ({ value: id, label: `${name} (${region.toUpperCase()})` }))}
            value={bindings.map(({ team_id }) => team_id)}
            onChange={setTeams}
            error={teamsError}
            searchable
            limit={100}
          />
          {bindings.map(({ team_id, role: inTeam }) => (
            <Stack key={team_id} gap={2}>
              <Select
                label={`Role in ${teams.find(({ id }) => id === team_id)?.name ?? team_id}`}
                data={Object.entries(TEAM_ROLES).map(([id, { label }]) => ({ value: id, label }))}
                value={inTeam}
                allowDeselect={false}
                onChange={(next) => next !== null && setTeamRole(team_id, next as TeamRole)}
              />
              <Text size="xs" c="dimmed">
                {TEAM_ROLES[inTeam].label}: {TEAM_ROLES[inTeam].description}.
              </Text>
            </Stack>
          ))}
        </>
      )}
    </Stack>
  )
}
