import { ActionIcon, CopyButton, Tooltip } from '@mantine/core'
import { Icon } from './Icon.tsx'

/** A button that copies a text. */
export const CopyTextButton = ({ text, label }: { text: string; label: string }) => (
  <CopyButton value={text}>
    {({ copied, copy }) => (
      <Tooltip label={copied ? 'Copied' : label}>
        <ActionIcon variant="subtle" color="gray" onClick={copy} aria-label={label}>
          <Icon name={copied ? 'check' : 'copy'} size={16} />
        </ActionIcon>
      </Tooltip>
    )}
  </CopyButton>
)
