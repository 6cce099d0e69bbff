import { toWords } from '../../components/order-status.ts'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import type { LabLink } from '../links/link-queries.ts'

const MODE_TONES = { off: 'neutral', test: 'progress', shadow: 'progress', live_for_team: 'good', live: 'good' } as const

export const LinkMode = ({ mode }: Pick<LabLink, 'mode'>) => (
  <StatusBadge tone={MODE_TONES[mode]}>{mode === 'live_for_team' ? 'Live, 1 team' : toWords(mode)}</StatusBadge>
)

/** Whether the link works. One that is off does nothing that could fail. */
export const LinkState = ({ link: { mode, state } }: { link: Pick<LabLink, 'mode' | 'state'> }) =>
  state === 'failing' ? (
    <StatusBadge tone="failed">Failing</StatusBadge>
  ) : mode === 'off' ? (
    '–'
  ) : (
    <StatusBadge tone="good">OK</StatusBadge>
  )
