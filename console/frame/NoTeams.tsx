import { Button, Select, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { api, dataOf } from '../api/client.ts'
import { ErrorNotice } from '../components/ErrorNotice.tsx'
import { refreshSession, signOut, useSession } from '../session/session.ts'
import { SignInCard } from '../session/SignInCard.tsx'
import { regionOf } from '../session/team.ts'

/** For a member without teams: an administrator creates the first one, others learn who adds them. */
export function NoTeams() {
  const { org, role } = useSession()
  return (
    <SignInCard title="No teams yet">
      <Stack gap="lg">
        {role === 'org_admin' ? (
          <FirstTeamForm />
        ) : (
          <Text>You are a member of {org.name}, and of no team of it. An administrator adds you to a team in its settings.</Text>
        )}
        <Button variant="default" onClick={() => void signOut()}>
          Sign out
        </Button>
      </Stack>
    </SignInCard>
  )
}

function FirstTeamForm() {
  const { org, cells } = useSession()
  const regions = [...new Set(cells.map(regionOf))]
  const create = useMutation({
    mutationFn: (body: { name: string; region: 'us' | 'eu' }) =>
      dataOf(api.POST('/v1/org/{org_id}/team', { params: { path: { org_id: org.id } }, body })),
    onSuccess: refreshSession,
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    create.mutate({ name: String(form.get('name')), region: form.get('region') === 'eu' ? 'eu' : 'us' })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Title order={2}>Create the first team of {org.name}</Title>
        <Text c="dimmed">A team has its own keys, users and orders, in a sandbox and in production of one region.</Text>
        <TextInput name="name" label="Name" maxLength={80} required withAsterisk={false} />
        <Select
          name="region"
          label="Region"
          data={regions.map((region) => ({ value: region, label: region.toUpperCase() }))}
          defaultValue={regions[0] ?? null}
          allowDeselect={false}
        />
        {create.error && <ErrorNotice error={create.error} />}
        <Button type="submit" loading={create.isPending}>
          Create the team
        </Button>
      </Stack>
    </form>
  )
}
