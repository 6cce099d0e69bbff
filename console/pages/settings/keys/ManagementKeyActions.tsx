import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { ShownOnce } from '../../../components/ShownOnce.tsx'
import { useManagementKeyChanges, type ManagementKey } from './key-queries.ts'
import { KeyUse } from './KeyUse.tsx'

interface KeyDialogProps {
  managementKey: ManagementKey
  isOpen: boolean
  onClose: () => void
}

/** Deletes a management key, by its label. */
export function DeleteManagementKey({ managementKey, isOpen, onClose }: KeyDialogProps) {
  const { remove } = useManagementKeyChanges()
  const { label, id } = managementKey
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Delete the management key ${label}`}
      action="Delete key"
      nameToType={label}
      onConfirm={() => remove(id)}
    >
      <Text size="sm">
        Programs that use it are refused within 5 seconds. It cannot be restored. Last used: <KeyUse {...managementKey} />.
      </Text>
    </ConfirmDialog>
  )
}

/** Gives a management key a new text, which is shown once. */
export const RotateManagementKey = ({ managementKey, isOpen, onClose }: KeyDialogProps) => (
  <Modal
    opened={isOpen}
    onClose={onClose}
    title={`Rotate the management key ${managementKey.label}`}
    closeOnClickOutside={false}
    closeButtonProps={{ 'aria-label': 'Close' }}
  >
    <Rotation managementKey={managementKey} onClose={onClose} />
  </Modal>
)

const OVERLAPS = [
  { value: '86400', label: 'for a day' },
  { value: '3600', label: 'for an hour' },
  { value: '0', label: 'no longer: it has leaked' },
]
const DAY = '86400'

function Rotation({ managementKey, onClose }: Omit<KeyDialogProps, 'isOpen'>) {
  const { rotate } = useManagementKeyChanges()
  const [overlap_s, setOverlap] = useState(DAY)
  const [text, setText] = useState<string>()
  const rotation = useMutation({ mutationFn: async () => setText(await rotate(managementKey.id, Number(overlap_s))) })
  if (text !== undefined)
    return (
      <ShownOnce text={text} label="the key" onClose={onClose}>
        This is the new text of the key {managementKey.label}. It is shown now and never again.{' '}
        {overlap_s === '0'
          ? 'The former text is refused within 5 seconds.'
          : `The former text works ${OVERLAPS.find(({ value }) => value === overlap_s)?.label}.`}
      </ShownOnce>
    )
  return (
    <Stack gap="md">
      <Text size="sm">The key gets a new text and keeps its label and teams. Give it to the programs that use the key.</Text>
      <Select
        label="The former text works"
        data={OVERLAPS}
        value={overlap_s}
        allowDeselect={false}
        onChange={(value) => value !== null && setOverlap(value)}
      />
      {rotation.error && <ErrorNotice error={rotation.error} />}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button loading={rotation.isPending} onClick={() => rotation.mutate()}>
          Rotate key
        </Button>
      </Group>
    </Stack>
  )
}
