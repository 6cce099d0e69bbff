import { Button, Checkbox, Group, Modal, Stack, TagsInput } from '@mantine/core'
import { useState } from 'react'
import { fieldError } from '../../api/api-error.ts'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { useSavePipeline, type Pipeline } from './broker-queries.ts'

interface PipelineDialogProps {
  pipeline: Pipeline
  isOpen: boolean
  onClose: () => void
}

/** Chooses which events the brokers get. */
export const PipelineDialog = ({ pipeline, isOpen, onClose }: PipelineDialogProps) => (
  <Modal opened={isOpen} onClose={onClose} title="Events for brokers" closeButtonProps={{ 'aria-label': 'Close' }}>
    <PipelineFields pipeline={pipeline} onClose={onClose} />
  </Modal>
)

function PipelineFields({ pipeline, onClose }: Omit<PipelineDialogProps, 'isOpen'>) {
  const [form, setForm] = useState({
    event_type_prefixes: pipeline.event_type_prefixes ?? [],
    push_historical_data: pipeline.push_historical_data,
    provider_raw_data: pipeline.provider_raw_data,
  })
  const saving = useSavePipeline()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        saving.mutate(form, { onSuccess: onClose })
      }}
    >
      <Stack gap="md">
        <TagsInput
          label="Types begin with"
          description="Without an entry every type is written."
          placeholder="labtest."
          splitChars={[' ', ',']}
          maxTags={100}
          value={form.event_type_prefixes}
          onChange={(event_type_prefixes) => setForm({ ...form, event_type_prefixes })}
          error={fieldError(saving.error, 'body.event_type_prefixes')}
        />
        <Checkbox
          label="Events about data from before a connection"
          checked={form.push_historical_data}
          onChange={(event) => setForm({ ...form, push_historical_data: event.currentTarget.checked })}
        />
        <Checkbox
          label="Data of providers as they sent it"
          checked={form.provider_raw_data}
          onChange={(event) => setForm({ ...form, provider_raw_data: event.currentTarget.checked })}
        />
        {saving.error && <ErrorNotice error={saving.error} />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={saving.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
