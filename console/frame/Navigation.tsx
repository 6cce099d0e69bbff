import { Burger, Group, NavLink, ScrollArea, Stack, Text } from '@mantine/core'
import { NavLink as RouterLink } from 'react-router'
import { Icon } from '../components/Icon.tsx'
import { navigationPath, PAGES } from '../pages.ts'
import { usePermissions } from '../session/permissions.ts'
import { useTeam } from '../session/team.ts'
import { TeamSwitch } from './TeamSwitch.tsx'
import classes from './Navigation.module.css'

interface NavigationProps {
  isOpen: boolean
  onToggle: () => void
  /** Called when a page has been chosen, so that a phone closes the navigation. */
  onNavigate: () => void
}

/** The pages that the member may see, below the team and the environment. */
export function Navigation({ isOpen, onToggle, onNavigate }: NavigationProps) {
  const { environment, pathTo } = useTeam()
  const isPermitted = usePermissions()
  return (
    <Stack gap={0} h="100%" className={classes.navigation} data-environment={environment}>
      <Group wrap="nowrap" gap="xs" px="sm" h="var(--header-height)">
        <Burger hiddenFrom="sm" size="sm" opened={isOpen} onClick={onToggle} aria-label="Close the navigation" />
        <TeamSwitch />
      </Group>
      <Text className={classes.environment}>{environment}</Text>
      <ScrollArea component="nav" aria-label="Pages" flex={1} px="sm" py="xs">
        {PAGES.map((page) => {
          const { path, navigation } = page
          const target = navigationPath(page, isPermitted)
          if (!navigation || target === undefined) return null
          return (
            <NavLink
              key={path}
              component={RouterLink}
              to={pathTo(target)}
              end={path === ''}
              label={navigation.label}
              leftSection={<Icon name={navigation.icon} />}
              className={classes.link}
              onClick={onNavigate}
            />
          )
        })}
      </ScrollArea>
    </Stack>
  )
}
