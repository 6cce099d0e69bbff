import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { browserInWords } from './browser-in-words.ts'
import { fieldMessage } from '../../../api/api-error.ts'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { PasskeyError } from '../../../session/passkeys.ts'
import { useAddPasskey } from './account-queries.ts'

const NAME_LENGTH_MAX = 100

/** Names a new passkey, and has the browser create it. */
export function AddPasskeyForm({ onAdded }: { onAdded: () => void }) {
  const [name, setName] = useState(() => browserInWords(navigator.userAgent).slice(0, NAME_LENGTH_MAX))
  const add = useAddPasskey()
  const nameError = fieldMessage(add.error, 'body.name')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        add.mutate(name, { onSuccess: onAdded })
      }}
    >
      <Stack gap="md">
        <Text size="sm">
          The browser asks where to keep it and for your PIN, finger or face. From then on a passkey is needed after the password.
        </Text>
        <TextInput
          label="Name"
          description="So that you know it in the list"
          required
          withAsterisk={false}
          maxLength={NAME_LENGTH_MAX}
          value={name}
          error={nameError}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        {add.error && nameError === undefined && <AddingError error={add.error} />}
        <Group justify="flex-end">
          <Button type="submit" disabled={!name.trim()} loading={add.isPending}>
            Create the passkey
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const AddingError = ({ error }: { error: Error }) =>
  error instanceof PasskeyError ? (
    <Text role="alert" size="sm" c="var(--failed)">
      {error.message}
    </Text>
  ) : (
    <ErrorNotice error={error} />
  )
