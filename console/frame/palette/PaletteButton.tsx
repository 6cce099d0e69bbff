import { Kbd, Text, UnstyledButton } from '@mantine/core'
import { spotlight } from '@mantine/spotlight'
import { Icon } from '../../components/Icon.tsx'
import classes from './PaletteButton.module.css'

/** Opens the command palette. */
export const PaletteButton = () => (
  <UnstyledButton className={classes.button} onClick={spotlight.open}>
    <Icon name="search" size={16} />
    <Text span size="sm" className={classes.label}>
      Search or jump
    </Text>
    <Text span size="xs" visibleFrom="sm" className={classes.keys} aria-hidden="true">
      <Kbd size="xs">Ctrl</Kbd> <Kbd size="xs">K</Kbd>
    </Text>
  </UnstyledButton>
)
