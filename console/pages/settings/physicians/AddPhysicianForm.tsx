import { Button, Group, MultiSelect, Stack, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { fieldMessage } from '../../../api/api-error.ts'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { US_STATES } from '../us-states.ts'
import { useAddPhysician, type NewPhysician } from './physician-queries.ts'

/** Adds a physician to the team in the environment of the page. */
export function AddPhysicianForm({ onAdded }: { onAdded: () => void }) {
  const [states, setStates] = useState<string[]>([])
  const adding = useAddPhysician(onAdded)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const { first_name, last_name, npi } = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>
    adding.mutate({ first_name: first_name!, last_name: last_name!, npi: npi!, states: states as NewPhysician['states'] & {} })
  }
  const errorOf = (name: string) => fieldMessage(adding.error, `body.${name}`)
  const isAtField = ['first_name', 'last_name', 'npi'].some((name) => errorOf(name) !== undefined)
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput name="first_name" label="First name" data-autofocus error={errorOf('first_name')} required />
        <TextInput name="last_name" label="Last name" error={errorOf('last_name')} required />
        <TextInput name="npi" label="NPI" description="National provider identifier" error={errorOf('npi')} required />
        <MultiSelect
          label="States"
          description="Without a state: every state"
          data={US_STATES}
          value={states}
          onChange={setStates}
          searchable
          selectFirstOptionOnChange
          clearable
        />
        {adding.error && !isAtField && <ErrorNotice error={adding.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={adding.isPending}>
            Add physician
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
