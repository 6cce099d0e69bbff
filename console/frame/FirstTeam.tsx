import { Navigate } from 'react-router'
import { listCells, environmentOf } from '../session/team.ts'
import { useSession } from '../session/session.ts'
import { readLastTeam } from './last-team.ts'
import { NoTeams } from './NoTeams.tsx'

/** Leads to the team that was open last, or to the sandbox of the first one. */
export function FirstTeam() {
  const session = useSession()
  const sandboxesFirst = session.cells.toSorted((a, b) => rankOf(a) - rankOf(b))
  const paths = sandboxesFirst.flatMap((cell) =>
    session.teams.filter((team) => listCells(team, [cell]).length > 0).map((team) => `${team.id}/${cell}`),
  )
  const last = readLastTeam()
  const path = paths.find((candidate) => candidate === last) ?? paths[0]
  if (path !== undefined) return <Navigate to={`/${path}`} replace />
  return <NoTeams />
}

const rankOf = (cell: string): number => Number(environmentOf(cell) === 'production')
