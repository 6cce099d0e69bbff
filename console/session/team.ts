// The team and the environment of the page, from its address.
import { createContext, use } from 'react'
import type { Api } from '../api/client.ts'
import type { Session } from './session.ts'

export type SessionTeam = Session['teams'][number]

export interface TeamScope {
  team: SessionTeam
  /** For example `sandbox-us`. */
  cell: string
  environment: 'sandbox' | 'production'
  region: 'us' | 'eu'
  org_id: string
  /** The client of this team's operations. */
  api: Api
  /** Begins the key of each query of this team. */
  key: readonly ['team', string, string]
  /** The address of a page of this team and environment, for links: `pathTo('orders')`. */
  pathTo: (page: string) => string
}

export const TeamContext = createContext<TeamScope | undefined>(undefined)

/** The team, the environment and the client of the page. */
export function useTeam(): TeamScope {
  const scope = use(TeamContext)
  if (!scope) throw new Error('there is no team outside of its pages')
  return scope
}

export const environmentOf = (cell: string): TeamScope['environment'] => (cell.startsWith('sandbox-') ? 'sandbox' : 'production')

export const regionOf = (cell: string): TeamScope['region'] => (cell.endsWith('-eu') ? 'eu' : 'us')

/** The cells of a team that this server has, sandboxes first. */
export const listCells = ({ region }: SessionTeam, cells: readonly string[]): string[] =>
  cells.filter((cell) => cell.endsWith(`-${region}`)).toSorted((a, b) => b.localeCompare(a))
