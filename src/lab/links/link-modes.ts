// The modes of a link, and what they mean for its messages. Pure.
import type { CellName } from '../../settings/cells.ts'
import type { LinkProfile } from './profile/link-profile.ts'

/**
 * `off`: nothing is sent or received. `test`: test messages only; nothing reaches an order. `shadow`: results are received, matched and
 * compared with those that staff enter, and no team sees them; no order is sent. `live_for_team`: live for one team, shadow for all others.
 * `live`: orders are sent, and results applied.
 */
export const linkModes = ['off', 'test', 'shadow', 'live_for_team', 'live'] as const
export type LinkMode = (typeof linkModes)[number]

export type LinkState = 'ok' | 'failing'

/** The modes in which messages are transported. */
export const activeModes = linkModes.filter((mode) => mode !== 'off')

interface ModeOfLink {
  mode: LinkMode
  live_team_id: string | null
}

/** Whether a link is live for a team. */
export const isLiveFor = ({ mode, live_team_id }: ModeOfLink, team_id: string): boolean =>
  mode === 'live' || (mode === 'live_for_team' && live_team_id === team_id)

const isProduction = (cell: CellName): boolean => cell.startsWith('production')

/** MSH-11 of messages to the laboratory: `P` only for orders of production. */
export const processingId = (cell: CellName, mode: LinkMode): 'P' | 'T' => (isProduction(cell) && mode !== 'test' ? 'P' : 'T')

/**
 * Whether a message with this MSH-11 may come over the link: in production test messages only in mode `test`, and no other ones there. A
 * sandbox has no patients to protect and accepts both.
 * @param id the first component of MSH-11; empty if the message has none
 */
export function acceptsProcessingId(id: string, cell: CellName, mode: LinkMode, { identity }: LinkProfile): boolean {
  if (identity.processing_ids === 'ignore' || id === '' || !isProduction(cell)) return true
  return mode === 'test' ? id !== 'P' : id === 'P'
}
