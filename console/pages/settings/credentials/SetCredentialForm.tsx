import { Button, Group, List, PasswordInput, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { fieldMessage } from '../../../api/api-error.ts'
import { CopyableCode } from '../../../components/CopyableCode.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { usePreparation, useSetCredential, type NewCredential, type Provider } from './credential-queries.ts'
import { PROVIDERS } from './providers.ts'

/** Sets the credentials of a provider; those that it has are replaced. */
export function SetCredentialForm({ onSet }: { onSet: () => void }) {
  const [provider, setProvider] = useState('')
  const [detailsError, setDetailsError] = useState<string>()
  const setting = useSetCredential(onSet)
  const errorOf = (name: string) => fieldMessage(setting.error, `body.${name}`)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const texts = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>
    const details = readDetails(texts.details ?? '')
    setDetailsError(details === undefined ? 'This is not a JSON object' : undefined)
    if (details === undefined) return
    setting.mutate({
      provider: provider as Provider,
      ...(texts.client_id && { client_id: texts.client_id }),
      ...(texts.client_secret && { client_secret: texts.client_secret }),
      ...(texts.redirect_url_override && { redirect_url_override: texts.redirect_url_override }),
      ...details,
    })
  }
  const isAtField = ['client_id', 'client_secret', 'redirect_url_override'].some((name) => errorOf(name) !== undefined)
  return (
    <form onSubmit={submit} autoComplete="off">
      <Stack gap="md">
        <Select
          label="Provider"
          data={PROVIDERS}
          value={provider || null}
          onChange={(value) => setProvider(value ?? '')}
          searchable
          selectFirstOptionOnChange
          required
          data-autofocus
        />
        {provider !== '' && <Preparation provider={provider} />}
        <TextInput name="client_id" label="Client id" error={errorOf('client_id')} />
        <PasswordInput
          name="client_secret"
          label="Client secret"
          description="Empty: a stored secret stays"
          autoComplete="new-password"
          error={errorOf('client_secret')}
        />
        <TextInput
          name="redirect_url_override"
          label="Redirect address of your own"
          description="Only if the provider leads users to a page of yours"
          error={errorOf('redirect_url_override')}
        />
        <Textarea
          name="details"
          label="Details"
          description="As JSON, for providers that need more, for example a webhook secret"
          autosize
          minRows={2}
          error={detailsError}
        />
        {setting.error && !isAtField && <ErrorNotice error={setting.error} />}
        <Group justify="flex-end">
          <Button type="submit" disabled={!provider} loading={setting.isPending}>
            Set credentials
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** The details of the form; nothing for an empty text; undefined if the text is no object. */
function readDetails(text: string): Pick<NewCredential, 'details'> | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? { details: value as NonNullable<NewCredential['details']> } : undefined
  } catch {
    return undefined
  }
}

/** What has to be set at the provider first. */
function Preparation({ provider }: { provider: string }) {
  const preparation = usePreparation(provider)
  // Providers whose credentials need no preparation here have none to read.
  if (!preparation.data?.length) return null
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        Set this at the provider first
      </Text>
      <List size="sm" listStyleType="none">
        {preparation.data.map(({ type, value, description }) => (
          <List.Item key={`${type} ${value}`}>
            {description}
            <CopyableCode text={value} label="the value" />
          </List.Item>
        ))}
      </List>
    </Stack>
  )
}
