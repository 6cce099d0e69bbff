import { useSearchParams } from 'react-router'
import { TeamList } from './TeamList.tsx'
import { TeamSettings } from './TeamSettings.tsx'

/** The teams of the organization; one of them with its settings where the address names it. */
export function TeamsSection() {
  const [params] = useSearchParams()
  const team_id = params.get('team_id')
  return team_id === null ? <TeamList /> : <TeamSettings key={team_id} team_id={team_id} />
}
