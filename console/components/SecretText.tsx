import { Stack, Text } from '@mantine/core'
import { CopyableCode } from './CopyableCode.tsx'

interface SecretTextProps {
  secret: string
  /** What it is, for example "the signing secret". */
  label: string
}

/** A secret in a dialog, to be copied before it is closed. It is in no address and in no cache. */
export const SecretText = ({ secret, label }: SecretTextProps) => (
  <Stack gap="xs">
    <CopyableCode text={secret} label={label} />
    <Text size="sm" c="dimmed">
      Copy it now: this page forgets it when the dialog closes.
    </Text>
  </Stack>
)
