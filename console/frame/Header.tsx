import { Burger, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTeam } from '../session/team.ts'
import { AccountMenu } from './AccountMenu.tsx'
import { HelpMenu } from './HelpMenu.tsx'
import { CommandPalette } from './palette/CommandPalette.tsx'
import { PaletteButton } from './palette/PaletteButton.tsx'
import classes from './Header.module.css'

interface HeaderProps {
  isNavigationOpen: boolean
  onToggleNavigation: () => void
  /** The clock, for sandboxes. */
  clock: ReactNode
}

/** The top of every page. In a sandbox it has the colored band and the clock. */
export function Header({ isNavigationOpen, onToggleNavigation, clock }: HeaderProps) {
  const { environment } = useTeam()
  return (
    <Group className={classes.header} data-environment={environment} wrap="nowrap" justify="space-between" gap="sm">
      <Burger
        hiddenFrom="sm"
        size="sm"
        opened={isNavigationOpen}
        onClick={onToggleNavigation}
        aria-label={`Open the navigation, ${environment}`}
      />
      <PaletteButton />
      <CommandPalette />
      <Group gap="xs" wrap="nowrap">
        {environment === 'sandbox' && clock}
        <HelpMenu />
        <AccountMenu />
      </Group>
    </Group>
  )
}
