import { CopyButton, Tooltip, UnstyledButton } from '@mantine/core'
import classes from './IdText.module.css'

const SHORT_MAX = 12

/** An id: short, whole on hover, and in the clipboard by one click. */
export const IdText = ({ id }: { id: string }) => (
  <CopyButton value={id}>
    {({ copied, copy }) => (
      <Tooltip label={copied ? 'Copied' : id}>
        <UnstyledButton className={classes.id} onClick={copy} aria-label={`${shortId(id)}: copy ${id}`}>
          {shortId(id)}
        </UnstyledButton>
      </Tooltip>
    )}
  </CopyButton>
)

/** The first and last four characters of a long id. The first characters of ids that were created together are the same. */
export const shortId = (id: string): string => (id.length > SHORT_MAX ? `${id.slice(0, 4)}…${id.slice(-4)}` : id)
