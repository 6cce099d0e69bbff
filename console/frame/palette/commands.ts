// Commands of the palette: the pages, what can be done on them, and what is done everywhere.
import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useNavigate } from 'react-router'
import type { IconName } from '../../components/Icon.tsx'
import { PAGES } from '../../pages.ts'
import { usePermissions } from '../../session/permissions.ts'
import { signOut, useSession } from '../../session/session.ts'
import { listCells, environmentOf, regionOf, useTeam } from '../../session/team.ts'

export interface Command {
  id: string
  group: 'Pages' | 'Actions' | 'Teams'
  label: string
  icon: IconName
  run: () => void
}

/** The commands that the member may run. */
export const useCommands = (): Command[] => [...usePageCommands(), ...useGlobalCommands(), ...useTeamCommands()]

function usePageCommands(): Command[] {
  const { pathTo } = useTeam()
  const isPermitted = usePermissions()
  const navigate = useNavigate()
  const go = (path: string) => (): void => void navigate(pathTo(path))
  return PAGES.flatMap(({ path, navigation, sections = [], actions = [] }): Command[] => [
    ...(navigation && isPermitted(navigation.operation)
      ? [{ id: `page ${path}`, group: 'Pages' as const, label: navigation.label, icon: navigation.icon, run: go(path) }]
      : []),
    ...sections
      .filter(({ operation }) => isPermitted(operation))
      .map((section) => ({
        id: `page ${section.path}`,
        group: 'Pages' as const,
        label: section.label,
        icon: navigation?.icon ?? ('overview' as const),
        run: go(section.path),
      })),
    ...actions
      .filter(({ operation }) => isPermitted(operation))
      .map((action) => ({
        id: `action ${action.label}`,
        group: 'Actions' as const,
        label: action.label,
        icon: action.icon,
        run: go(action.path),
      })),
  ])
}

function useTeamCommands(): Command[] {
  const session = useSession()
  const { team, cell } = useTeam()
  const navigate = useNavigate()
  return session.teams.flatMap((candidate) =>
    listCells(candidate, session.cells)
      .filter((candidateCell) => candidate.id !== team.id || candidateCell !== cell)
      .map((candidateCell) => ({
        id: `team ${candidate.id} ${candidateCell}`,
        group: 'Teams' as const,
        label: `${candidate.name}, ${environmentOf(candidateCell)} ${regionOf(candidateCell).toUpperCase()}`,
        icon: 'users' as const,
        run: () => void navigate(`/${candidate.id}/${candidateCell}`),
      })),
  )
}

function useGlobalCommands(): Command[] {
  const { setColorScheme } = useMantineColorScheme()
  const colorScheme = useComputedColorScheme()
  const { team } = useTeam()
  return [
    {
      id: 'colors',
      group: 'Actions',
      label: colorScheme === 'dark' ? 'Use light colors' : 'Use dark colors',
      icon: colorScheme === 'dark' ? 'sun' : 'moon',
      run: () => setColorScheme(colorScheme === 'dark' ? 'light' : 'dark'),
    },
    {
      id: 'copy team',
      group: 'Actions',
      label: 'Copy the id of the team',
      icon: 'copy',
      run: () => void navigator.clipboard.writeText(team.id),
    },
    { id: 'sign out', group: 'Actions', label: 'Sign out', icon: 'close', run: () => void signOut() },
  ]
}
