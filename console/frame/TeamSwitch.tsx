import { Group, Menu, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useLocation, useNavigate } from 'react-router'
import { Icon } from '../components/Icon.tsx'
import { pageElsewhere } from '../pages.ts'
import { useSession } from '../session/session.ts'
import { listCells, environmentOf, regionOf, useTeam } from '../session/team.ts'
import classes from './TeamSwitch.module.css'

/** Changes the team or the environment. The page stays. */
export function TeamSwitch() {
  const session = useSession()
  const { team, cell, pathTo } = useTeam()
  const { pathname } = useLocation()
  const navigate = useNavigate()
  const page = pageElsewhere(pathname.slice(pathTo('').length + 1))
  return (
    <Menu position="bottom-start" width={280}>
      <Menu.Target>
        <UnstyledButton className={classes.button}>
          <VisuallyHidden>Team</VisuallyHidden>
          <Text component="span" fw={600} truncate>
            {team.name}
          </Text>
          <Text component="span" c="dimmed" size="xs">
            {regionOf(cell).toUpperCase()}
          </Text>
          <Icon name="chevron" size={16} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown mah="70dvh" className={classes.list}>
        <Menu.Label>{session.org.name}</Menu.Label>
        {session.teams.flatMap((candidate) =>
          listCells(candidate, session.cells).map((candidateCell) => (
            <Menu.Item
              key={`${candidate.id} ${candidateCell}`}
              aria-current={candidate.id === team.id && candidateCell === cell}
              onClick={() => void navigate(`/${candidate.id}/${candidateCell}${page && `/${page}`}`)}
              rightSection={candidate.id === team.id && candidateCell === cell && <Icon name="check" size={16} />}
            >
              <Group gap="sm" wrap="nowrap">
                <Text span size="sm" truncate>
                  {candidate.name}
                </Text>
                <Text span size="xs" className={classes.environment} data-environment={environmentOf(candidateCell)}>
                  {environmentOf(candidateCell)} {regionOf(candidateCell).toUpperCase()}
                </Text>
              </Group>
            </Menu.Item>
          )),
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
