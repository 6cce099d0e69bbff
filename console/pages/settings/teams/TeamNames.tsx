import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import { fieldMessage } from '../../../api/api-error.ts'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { usePermission } from '../../../session/permissions.ts'
import { useUpdateTeam, type OrgTeam } from './team-queries.ts'

const NAME_LENGTH_MAX = 80
const REFERENCE_LENGTH_MAX = 256

/** Changes the name of a team, and the reference by which programs find it. */
export function TeamNames({ team }: { team: OrgTeam }) {
  const canUpdate = usePermission('update_team_in_org')
  const update = useUpdateTeam(team.id)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as { name: string; integration_team_id: string }
    update.mutate({ name: fields.name, integration_team_id: fields.integration_team_id || null })
  }
  const errors = {
    name: fieldMessage(update.error, 'body.name'),
    integration_team_id: fieldMessage(update.error, 'body.integration_team_id'),
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md" maw={420}>
        <TextInput
          name="name"
          label="Name"
          description="Patients see it where they connect devices, unless the brand has a name"
          maxLength={NAME_LENGTH_MAX}
          defaultValue={team.name}
          error={errors.name}
          readOnly={!canUpdate}
          required
          withAsterisk={false}
        />
        <TextInput
          name="integration_team_id"
          label="Your reference"
          description="An id of your own system, by which programs find the team"
          maxLength={REFERENCE_LENGTH_MAX}
          defaultValue={team.integration_team_id ?? ''}
          error={errors.integration_team_id}
          readOnly={!canUpdate}
        />
        {update.error && !errors.name && !errors.integration_team_id && <ErrorNotice error={update.error} />}
        {canUpdate && (
          <Group gap="sm">
            <Button type="submit" variant="default" loading={update.isPending}>
              Save names
            </Button>
            {update.isSuccess && (
              <Text size="sm" role="status">
                Saved.
              </Text>
            )}
          </Group>
        )}
      </Stack>
    </form>
  )
}
