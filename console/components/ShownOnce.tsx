import { Button, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyableCode } from './CopyableCode.tsx'

interface ShownOnceProps {
  /** A key, a secret or a link, which the server does not show again. */
  text: string
  /** What the button copies, for example "the key". */
  label: string
  /** What it is for, and what to do with it. */
  children: ReactNode
  onClose: () => void
}

/** A text that is shown this once. It is in no cache, and gone when the dialog closes. */
export const ShownOnce = ({ text, label, children, onClose }: ShownOnceProps) => (
  <Stack gap="md">
    <Text size="sm" role="status">
      {children}
    </Text>
    <CopyableCode text={text} label={label} />
    <Group justify="flex-end">
      <Button onClick={onClose}>Done</Button>
    </Group>
  </Stack>
)
