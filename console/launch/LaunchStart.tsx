import { Navigate } from 'react-router'
import { FirstTeam } from '../frame/FirstTeam.tsx'
import { useLaunch, useSession } from '../session/session.ts'
import { pageOf } from './feature.ts'

/** Leads a launched session to its feature, and a member to the first team. */
export function LaunchStart() {
  const { teams, cells } = useSession()
  const launch = useLaunch()
  if (!launch) return <FirstTeam />
  return <Navigate to={`/${teams[0]?.id}/${cells[0]}/${pageOf(launch).start}`} replace />
}
