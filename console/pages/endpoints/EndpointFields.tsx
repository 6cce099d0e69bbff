import { MultiSelect, Stack, TextInput } from '@mantine/core'
import { fieldError } from '../../api/api-error.ts'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { useTeam } from '../../session/team.ts'
import type { EndpointForm } from './endpoint-form.ts'
import { useEventTypes } from './endpoint-queries.ts'

interface EndpointFieldsProps {
  form: EndpointForm
  onChange: (form: EndpointForm) => void
  /** Of the request that sent the form. */
  error: Error | null
}

/** Where to send, what, and how fast. */
export function EndpointFields({ form, onChange, error }: EndpointFieldsProps) {
  const { environment } = useTeam()
  const types = useEventTypes()
  return (
    <Stack gap="sm">
      <TextInput
        label="Address"
        description={environment === 'sandbox' ? 'https, and in a sandbox also http' : 'https'}
        placeholder="https://receiver.example.com/events"
        required
        maxLength={2000}
        data-autofocus
        value={form.url}
        onChange={(event) => onChange({ ...form, url: event.currentTarget.value })}
        error={fieldError(error, 'body.url')}
      />
      <TextInput
        label="Description"
        maxLength={2000}
        value={form.description}
        onChange={(event) => onChange({ ...form, description: event.currentTarget.value })}
        error={fieldError(error, 'body.description')}
      />
      {types.error && <ErrorNotice error={types.error} onRetry={() => void types.refetch()} />}
      <MultiSelect
        label="Event types"
        description="Without a choice every type is sent."
        placeholder={form.filter_types.length ? undefined : 'Every type'}
        data={types.data ?? []}
        value={form.filter_types}
        onChange={(filter_types) => onChange({ ...form, filter_types })}
        searchable
        clearable
        limit={50}
        nothingFoundMessage="No event type has this name"
        error={fieldError(error, 'body.filter_types')}
      />
      <TextInput
        label="Messages a second at most"
        description="Empty: as many as the endpoint takes."
        inputMode="numeric"
        pattern="[0-9]*"
        value={form.rate_limit}
        onChange={(event) => onChange({ ...form, rate_limit: event.currentTarget.value })}
        error={fieldError(error, 'body.rate_limit')}
      />
    </Stack>
  )
}
