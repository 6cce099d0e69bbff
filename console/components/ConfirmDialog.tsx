import { Button, Code, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { ErrorNotice } from './ErrorNotice.tsx'

interface ConfirmDialogProps {
  isOpen: boolean
  onClose: () => void
  title: string
  /** What will happen: counts, names, money, messages to patients. */
  children: ReactNode
  /** The verb of the button, for example "Resend events". */
  action: string
  /** For what cannot be undone: this name of the object must be typed first. */
  nameToType?: string | undefined
  /** Whether what was chosen in the dialog cannot be done. */
  isDisabled?: boolean
  /** Does it. The dialog closes when it has been done, and shows the error otherwise. */
  onConfirm: () => Promise<unknown>
}

/** Says what an action will do, and does it. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { isOpen, onClose, title } = props
  return (
    <Modal opened={isOpen} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <Confirmation {...props} />
    </Modal>
  )
}

/** The content, which starts empty each time the dialog opens. */
function Confirmation({ onClose, children, action, nameToType, isDisabled = false, onConfirm }: ConfirmDialogProps) {
  const [typedName, setTypedName] = useState('')
  const confirmation = useMutation({ mutationFn: onConfirm, onSuccess: onClose })
  const isNameTyped = nameToType === undefined || typedName === nameToType
  return (
    <Stack gap="lg">
      {children}
      {nameToType !== undefined && (
        <TextInput
          label={
            <Text span size="sm">
              Type <Code>{nameToType}</Code> to confirm
            </Text>
          }
          value={typedName}
          onChange={(event) => setTypedName(event.currentTarget.value)}
          autoComplete="off"
        />
      )}
      {confirmation.error && <ErrorNotice error={confirmation.error} />}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          color={nameToType === undefined ? undefined : 'red'}
          disabled={!isNameTyped || isDisabled}
          loading={confirmation.isPending}
          onClick={() => confirmation.mutate()}
        >
          {action}
        </Button>
      </Group>
    </Stack>
  )
}
