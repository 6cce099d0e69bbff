import { Button, Group, List, MultiSelect, Skeleton, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Delayed } from '../../../components/Delayed.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { useLinkTeams, useRegionTeams, type LabAccount, type OrganizationTeam } from './lab-account-queries.ts'

interface LinkTeamsFormProps {
  account: LabAccount
  onLinked: () => void
}

/** Chooses the teams whose orders may go under an account. */
export function LinkTeamsForm(props: LinkTeamsFormProps) {
  const teams = useRegionTeams()
  if (teams.error) return <ErrorNotice error={teams.error} onRetry={() => void teams.refetch()} />
  if (!teams.data)
    return (
      <Delayed>
        <Skeleton height={144} />
      </Delayed>
    )
  return <TeamsForm {...props} teams={teams.data} />
}

function TeamsForm({ account, onLinked, teams }: LinkTeamsFormProps & { teams: readonly OrganizationTeam[] }) {
  const [chosen, setChosen] = useState(account.team_id_allowlist)
  const linking = useLinkTeams(account.id, onLinked)
  const namesOf = (ids: readonly string[]): string => ids.map((id) => teams.find((team) => team.id === id)?.name ?? id).join(', ')
  const added = chosen.filter((id) => !account.team_id_allowlist.includes(id))
  const removed = account.team_id_allowlist.filter((id) => !chosen.includes(id))
  return (
    <Stack gap="md">
      <MultiSelect
        label="Teams that may order under this account"
        data={[
          ...teams.map(({ id, name }) => ({ value: id, label: name })),
          ...account.team_id_allowlist
            .filter((id) => !teams.some((team) => team.id === id))
            .map((id) => ({ value: id, label: id })),
        ]}
        value={chosen}
        onChange={setChosen}
        searchable
        selectFirstOptionOnChange
        clearable
      />
      <List size="sm">
        {added.length > 0 && <List.Item>Linked: {namesOf(added)}. Their orders go under this account from now on.</List.Item>}
        {removed.length > 0 && (
          <List.Item>
            No longer linked: {namesOf(removed)}. New orders need another account; orders that were placed stay.
          </List.Item>
        )}
        {added.length + removed.length === 0 && <List.Item>Nothing changes.</List.Item>}
      </List>
      {linking.error && <ErrorNotice error={linking.error} />}
      <Group justify="flex-end">
        <Button disabled={added.length + removed.length === 0} loading={linking.isPending} onClick={() => linking.mutate(chosen)}>
          Save teams
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        Processes of the server take the change over within 5 seconds.
      </Text>
    </Stack>
  )
}
