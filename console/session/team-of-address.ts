// The team and the cell that the address names.
import { useMemo } from 'react'
import { useParams } from 'react-router'
import { createApi } from '../api/client.ts'
import { saveLastTeam } from '../frame/last-team.ts'
import { launchId } from '../page-context.ts'
import { useSession, type Session } from './session.ts'
import { listCells, environmentOf, regionOf, type TeamScope } from './team.ts'

/** Undefined if the member has no such team, or the team is not in the cell. */
export function useTeamOfAddress(): TeamScope | undefined {
  const session = useSession()
  const { team, cell } = useParams()
  return useMemo(() => findScope(session, team, cell), [session, team, cell])
}

function findScope(session: Session, teamId = '', cell = ''): TeamScope | undefined {
  const team = session.teams.find(({ id }) => id === teamId)
  if (!team || !listCells(team, session.cells).includes(cell)) return undefined
  // A launch has one team, and a frame may have no storage.
  if (!launchId) saveLastTeam(`${teamId}/${cell}`)
  return {
    team,
    cell,
    environment: environmentOf(cell),
    region: regionOf(cell),
    org_id: session.org.id,
    api: createApi({ team: teamId, cell }),
    key: ['team', teamId, cell],
    pathTo: (page) => `/${teamId}/${cell}${page && `/${page}`}`,
  }
}
