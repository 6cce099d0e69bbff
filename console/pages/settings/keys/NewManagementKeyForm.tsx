import { Button, Group, MultiSelect, Radio, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessage } from '../../../api/api-error.ts'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { ShownOnce } from '../../../components/ShownOnce.tsx'
import { useSession } from '../../../session/session.ts'
import { useTeam } from '../../../session/team.ts'
import { useManagementKeyChanges } from './key-queries.ts'

const LABEL_LENGTH_MAX = 100

type Role = 'team_admin' | 'org_admin'

/** Creates a management key, and shows its text once. */
export function NewManagementKeyForm({ onClose }: { onClose: () => void }) {
  const { team } = useTeam()
  const [label, setLabel] = useState('')
  const [role, setRole] = useState<Role>('team_admin')
  const [teamIds, setTeamIds] = useState([team.id])
  const [text, setText] = useState<string>()
  const { create } = useManagementKeyChanges()
  const creation = useMutation({
    mutationFn: async () =>
      setText(
        await create({
          label,
          role,
          ...(role === 'team_admin' && { team_role_bindings: teamIds.map((team_id) => ({ team_id })) }),
        }),
      ),
  })
  if (text !== undefined)
    return (
      <ShownOnce text={text} label="the key" onClose={onClose}>
        This is the management key {label}. It is shown now and never again: keep it where your program keeps its secrets.
      </ShownOnce>
    )
  const labelError = fieldMessage(creation.error, 'body.label')
  const teamsError = fieldMessage(creation.error, 'body.team_role_bindings')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        creation.mutate()
      }}
    >
      <Stack gap="md">
        <TextInput
          label="Label"
          description="The program that will use it"
          required
          withAsterisk={false}
          maxLength={LABEL_LENGTH_MAX}
          value={label}
          error={labelError}
          onChange={(event) => setLabel(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        <ReachFields role={role} onRoleChange={setRole} teamIds={teamIds} onTeamsChange={setTeamIds} error={teamsError} />
        {creation.error && labelError === undefined && teamsError === undefined && <ErrorNotice error={creation.error} />}
        <Group justify="flex-end">
          <Button
            type="submit"
            disabled={!label.trim() || (role === 'team_admin' && teamIds.length === 0)}
            loading={creation.isPending}
          >
            Create the key
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface ReachFieldsProps {
  role: Role
  onRoleChange: (role: Role) => void
  teamIds: string[]
  onTeamsChange: (ids: string[]) => void
  /** What is wrong with the teams. */
  error: string | undefined
}

/** What the key reaches: the organization, or some of its teams. */
function ReachFields({ role, onRoleChange, teamIds, onTeamsChange, error }: ReachFieldsProps) {
  const { org, teams } = useSession()
  return (
    <>
      <Radio.Group label="Reaches" value={role} onChange={(value) => onRoleChange(value as Role)}>
        <Stack gap="sm" pt="xs">
          <Radio value="team_admin" label="Teams that you choose" />
          <Radio value="org_admin" label={`${org.name}: every team, members, and creating teams`} />
        </Stack>
      </Radio.Group>
      {role === 'team_admin' && (
        <MultiSelect
          label="Teams"
          data={teams.map(({ id, name, region }) => ({ value: id, label: `${name} (${region.toUpperCase()})` }))}
          value={teamIds}
          error={error}
          onChange={onTeamsChange}
          searchable
          limit={100}
        />
      )}
    </>
  )
}
