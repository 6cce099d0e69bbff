import { Code } from '@mantine/core'
import { CopyTextButton } from './CopyTextButton.tsx'
import classes from './CopyableCode.module.css'

interface CopyableCodeProps {
  text: string
  /** What the button copies, for example "the command". */
  label: string
}

/** A text for a terminal or an editor, with a button that copies it. */
export const CopyableCode = ({ text, label }: CopyableCodeProps) => (
  <div className={classes.box}>
    <Code block tabIndex={0} className={classes.text}>
      {text}
    </Code>
    <CopyTextButton text={text} label={`Copy ${label}`} />
  </div>
)
