import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import { useNavigate } from 'react-router'
import { fieldMessage } from '../../../api/api-error.ts'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { useSession } from '../../../session/session.ts'
import { regionOf, useTeam } from '../../../session/team.ts'
import { useCreateTeam } from './team-queries.ts'

const NAME_LENGTH_MAX = 80
const REFERENCE_LENGTH_MAX = 256
const FIELDS = ['name', 'region', 'integration_team_id'] as const

/** Creates a team, and opens its settings. */
export function NewTeamForm() {
  const { cells } = useSession()
  const { region, pathTo } = useTeam()
  const navigate = useNavigate()
  const create = useCreateTeam()
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as Record<(typeof FIELDS)[number], string>
    create.mutate(
      {
        name: fields.name,
        region: fields.region === 'eu' ? 'eu' : 'us',
        ...(fields.integration_team_id && { integration_team_id: fields.integration_team_id }),
      },
      { onSuccess: ({ id }) => void navigate(pathTo(`settings/teams?team_id=${id}`)) },
    )
  }
  const errorOf = (field: (typeof FIELDS)[number]) => fieldMessage(create.error, `body.${field}`)
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          name="name"
          label="Name"
          maxLength={NAME_LENGTH_MAX}
          error={errorOf('name')}
          required
          withAsterisk={false}
          autoComplete="off"
          data-autofocus
        />
        <Select
          name="region"
          label="Region"
          description="Where its data is stored. It cannot be changed."
          data={[...new Set(cells.map(regionOf))].map((value) => ({ value, label: value.toUpperCase() }))}
          defaultValue={region}
          error={errorOf('region')}
          allowDeselect={false}
        />
        <TextInput
          name="integration_team_id"
          label="Your reference"
          description="An id of your own system, by which programs find the team"
          maxLength={REFERENCE_LENGTH_MAX}
          error={errorOf('integration_team_id')}
          autoComplete="off"
        />
        <Text size="sm" c="dimmed">
          The sandbox of the new team has a test of each kind of collection. Keys are created under Keys.
        </Text>
        {create.error && !FIELDS.some(errorOf) && <ErrorNotice error={create.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={create.isPending}>
            Create the team
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
