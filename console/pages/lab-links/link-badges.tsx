import { toWords } from '../../components/order-status.ts'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import type { LabLink } from '../links/link-queries.ts'

const MODE_TONES = { off: 'neutral', test: 'progress', shadow: 'progress', live_for_team: 'good', live: 'good' } as const

export const LinkMode = ({ mode }: Pick<LabLink, 'mode'>) => (
  <StatusBadge tone={MODE_TONES[mode]}>{mode === 'live_for_team' ? 'Live, 1 team' : toWords(mode)}</StatusBadge>
)

/** Whether the link works. A link that is off does nothing that could fail. Whether a link works is not known before its first message. */
export function LinkState({ link }: { link: Pick<LabLink, 'mode' | 'state' | 'received_at' | 'sent_at'> }) {
  if (link.state === 'failing') return <StatusBadge tone="failed">Failing</StatusBadge>
  if (link.mode === 'off') return '–'
  if (link.received_at === null && link.sent_at === null) return <StatusBadge tone="neutral">Unused</StatusBadge>
  return <StatusBadge tone="good">OK</StatusBadge>
}
