import { ActionIcon, Button, Group, Loader, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { fieldError } from '../../api/api-error.ts'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Icon } from '../../components/Icon.tsx'
import { useEndpointHeaders, useReplaceHeaders } from './endpoint-actions.ts'

interface HeadersDialogProps {
  webhook_id: string
  isOpen: boolean
  onClose: () => void
}

/** Shows and replaces the headers that the team adds to each request. */
export const HeadersDialog = ({ webhook_id, isOpen, onClose }: HeadersDialogProps) => (
  <Modal opened={isOpen} onClose={onClose} title="Headers of each request" closeButtonProps={{ 'aria-label': 'Close' }} size="lg">
    <Headers webhook_id={webhook_id} onClose={onClose} />
  </Modal>
)

function Headers({ webhook_id, onClose }: Omit<HeadersDialogProps, 'isOpen'>) {
  const headers = useEndpointHeaders(webhook_id)
  if (headers.error) return <ErrorNotice error={headers.error} onRetry={() => void headers.refetch()} />
  if (!headers.data) return <Loader size="sm" aria-label="Loading" />
  const { headers: shown, sensitive } = headers.data
  const rows = [
    ...Object.entries(shown).map(([name, value]) => ({ name, value, isHidden: false })),
    ...sensitive.map((name) => ({ name, value: '', isHidden: true })),
  ]
  return <HeadersForm webhook_id={webhook_id} initialRows={rows} onClose={onClose} />
}

interface HeaderRow {
  name: string
  value: string
  /** The server has a value that it does not show. */
  isHidden: boolean
}

interface HeadersFormProps {
  webhook_id: string
  initialRows: readonly HeaderRow[]
  onClose: () => void
}

function HeadersForm({ webhook_id, initialRows, onClose }: HeadersFormProps) {
  const [rows, setRows] = useState(() => initialRows.map((row, id) => ({ ...row, id })))
  const [nextId, setNextId] = useState(initialRows.length)
  const replacement = useReplaceHeaders(webhook_id)
  const change = (id: number, values: Partial<HeaderRow>): void =>
    setRows(rows.map((row) => (row.id === id ? { ...row, ...values } : row)))
  const named = rows.filter(({ name }) => name.trim() !== '')
  const isHiddenMissing = named.some(({ isHidden, value }) => isHidden && value === '')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const headers = Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]))
        replacement.mutate(headers, { onSuccess: onClose })
      }}
    >
      <Stack gap="md">
        {!rows.length && <Text size="sm">No header is added to the requests.</Text>}
        {rows.map(({ id, ...row }) => (
          <HeaderFields
            key={id}
            row={row}
            error={row.name && fieldError(replacement.error, `body.headers.${row.name.trim()}`)}
            onChange={(values) => change(id, values)}
            onRemove={() => setRows(rows.filter((candidate) => candidate.id !== id))}
          />
        ))}
        <Group>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => {
              setRows([...rows, { name: '', value: '', isHidden: false, id: nextId }])
              setNextId(nextId + 1)
            }}
          >
            Add a header
          </Button>
        </Group>
        {isHiddenMissing && (
          <Text size="sm">
            Saving replaces all headers. The server does not show secret values: write them again, or remove them.
          </Text>
        )}
        {replacement.error && <ErrorNotice error={replacement.error} />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={replacement.isPending} disabled={isHiddenMissing}>
            Save headers
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface HeaderFieldsProps {
  row: HeaderRow
  error: string | undefined
  onChange: (values: Partial<HeaderRow>) => void
  onRemove: () => void
}

const HeaderFields = ({ row: { name, value, isHidden }, error, onChange, onRemove }: HeaderFieldsProps) => (
  <Group gap="sm" align="flex-start" wrap="nowrap">
    <TextInput
      aria-label="Name"
      placeholder="x-clinic"
      flex={1}
      value={name}
      onChange={(event) => onChange({ name: event.currentTarget.value })}
      error={error}
    />
    <TextInput
      aria-label={`Value of ${name || 'the new header'}`}
      placeholder={isHidden ? 'hidden: write it again' : 'value'}
      flex={2}
      autoComplete="off"
      value={value}
      onChange={(event) => onChange({ value: event.currentTarget.value })}
    />
    <ActionIcon variant="subtle" color="gray" mt={4} aria-label={`Remove ${name || 'the new header'}`} onClick={onRemove}>
      <Icon name="close" size={16} />
    </ActionIcon>
  </Group>
)
