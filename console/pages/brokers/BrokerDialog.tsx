import { Button, Checkbox, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { fieldError } from '../../api/api-error.ts'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { toForm, toBody, type BrokerForm } from './broker-form.ts'
import { brokerName } from './broker-names.ts'
import { BROKER_KINDS, useSavePipeline, type BrokerKind, type Pipeline } from './broker-queries.ts'

interface BrokerDialogProps {
  pipeline: Pipeline | null
  /** The broker to edit; undefined: one is added. */
  kind: BrokerKind | undefined
  isOpen: boolean
  onClose: () => void
}

/** Sets the connection to a broker. */
export const BrokerDialog = ({ pipeline, kind, isOpen, onClose }: BrokerDialogProps) => (
  <Modal
    opened={isOpen}
    onClose={onClose}
    title={kind ? `Edit ${brokerName(kind)}` : 'Add a broker'}
    closeButtonProps={{ 'aria-label': 'Close' }}
    size="lg"
  >
    <BrokerFields pipeline={pipeline} kind={kind} onClose={onClose} />
  </Modal>
)

/** The form, which starts with the broker as it is when the dialog opens. */
function BrokerFields({ pipeline, kind, onClose }: Omit<BrokerDialogProps, 'isOpen'>) {
  const [before] = useState(pipeline)
  const [form, setForm] = useState(() => toForm(before, kind ?? BROKER_KINDS.find((name) => !before?.[name]) ?? 'rabbitmq'))
  const saving = useSavePipeline()
  const choices = BROKER_KINDS.filter((name) => name === kind || !before?.[name])
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        saving.mutate(toBody(form, before), { onSuccess: onClose })
      }}
    >
      <Stack gap="sm">
        {kind === undefined && (
          <Select
            label="Broker"
            data={choices.map((name) => ({ value: name, label: brokerName(name) }))}
            value={form.kind}
            allowDeselect={false}
            onChange={(next) => next && setForm(toForm(before, next as BrokerKind))}
          />
        )}
        <ConnectionFields form={form} onChange={setForm} error={saving.error} />
        <Text size="sm">Every event of the chosen types is written to the broker from now on, beside the endpoints.</Text>
        {saving.error && <ErrorNotice error={saving.error} />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={saving.isPending}>
            {kind ? 'Save' : 'Add broker'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface ConnectionFieldsProps {
  form: BrokerForm
  onChange: (form: BrokerForm) => void
  error: Error | null
}

const REDACTED = 'A secret is shown as ***. Left as it is, it stays.'

function ConnectionFields({ form, onChange, error }: ConnectionFieldsProps) {
  const text = (name: Exclude<keyof BrokerForm, 'kind' | 'message_ordering'>, place: string) => ({
    value: form[name],
    onChange: (event: { currentTarget: { value: string } }) => onChange({ ...form, [name]: event.currentTarget.value }),
    error: fieldError(error, `body.${form.kind}.${place}`),
    autoComplete: 'off',
  })
  if (form.kind === 'rabbitmq')
    return (
      <>
        <TextInput
          label="Address"
          description={form.uri ? REDACTED : undefined}
          placeholder="amqps://user:password@broker.example.com/host"
          required
          {...text('uri', 'uri')}
        />
        <TextInput label="Exchange" {...text('exchange', 'exchange')} />
      </>
    )
  if (form.kind === 'azure_amqp')
    return (
      <>
        <TextInput
          label="Connection string"
          description={form.connection_string ? REDACTED : undefined}
          placeholder="Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…"
          required
          {...text('connection_string', 'connection_string')}
        />
        <TextInput label="Event hub" required {...text('default_event_hub', 'default_event_hub')} />
      </>
    )
  return (
    <>
      <TextInput
        label="Project"
        description="The operator of the server lists the projects that may be used."
        required
        {...text('project', 'project')}
      />
      <TextInput label="Topic" required {...text('topic', 'topic')} />
      <Checkbox
        label="Keep the order of a user's events"
        checked={form.message_ordering}
        onChange={(event) => onChange({ ...form, message_ordering: event.currentTarget.checked })}
      />
    </>
  )
}
