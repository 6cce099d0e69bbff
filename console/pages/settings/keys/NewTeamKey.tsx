import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessage } from '../../../api/api-error.ts'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { ShownOnce } from '../../../components/ShownOnce.tsx'
import { useTeam } from '../../../session/team.ts'
import { useCreateTeamKey } from './key-queries.ts'

const LABEL_LENGTH_MAX = 100

/** Creates a key of the team, and shows its text once. */
export function NewTeamKey({ onClose }: { onClose: () => void }) {
  const { environment } = useTeam()
  const [label, setLabel] = useState('')
  const [value, setValue] = useState<string>()
  const createKey = useCreateTeamKey()
  const creation = useMutation({ mutationFn: async () => setValue(await createKey(label)) })
  if (value !== undefined)
    return (
      <ShownOnce text={value} label="the key" onClose={onClose}>
        This is the key {label}. It is shown now and never again: keep it where your program keeps its secrets.
      </ShownOnce>
    )
  const labelError = fieldMessage(creation.error, 'body.label')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        creation.mutate()
      }}
    >
      <Stack gap="md">
        <Text size="sm">
          {environment === 'production'
            ? 'A program with the key reads and changes the data of patients.'
            : 'A program with the key reads and changes everything in this sandbox.'}
        </Text>
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
        {creation.error && labelError === undefined && <ErrorNotice error={creation.error} />}
        <Group justify="flex-end">
          <Button type="submit" disabled={!label.trim()} loading={creation.isPending}>
            Create the key
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
