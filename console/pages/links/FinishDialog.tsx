import { Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'

const COMMENT_LENGTH_MAX = 500

interface FinishDialogProps {
  title: string
  /** What it means beside the mark. */
  text: string
  isOpen: boolean
  onClose: () => void
  onConfirm: (comment: string) => Promise<unknown>
}

/** Marks an issue or a message as done, with a comment. */
export function FinishDialog({ title, text, isOpen, onClose, onConfirm }: FinishDialogProps) {
  const [comment, setComment] = useState('')
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      action="Mark as done"
      onConfirm={() => onConfirm(comment.trim())}
    >
      <Stack gap="md">
        <Text size="sm">{text}</Text>
        <Textarea
          label="What was done"
          description="Optional. Without names and other data of patients"
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
          maxLength={COMMENT_LENGTH_MAX}
          autosize
          minRows={2}
        />
      </Stack>
    </ConfirmDialog>
  )
}
