// What becomes of a result by the mode of its link.
import type { AccountLink } from '../accounts/account-links.ts'
import { readHl7Header } from '../hl7/message-header.ts'
import { acceptsProcessingId } from '../links/link-modes.ts'
import { findTeamOfResult, storeShadowResult } from '../link-shadow/shadow-results.ts'
import type { CellName } from '../../settings/cells.ts'
import { badRequest } from '../../platform/http/errors.ts'
import type { LinkDelivery } from '../result-matching/incoming-result.ts'
import { receiveFromLink, type Receipt, type ReceiveContext } from '../result-matching/receive.ts'
import type { MessageOutcome } from './message-store.ts'

/**
 * Applies a result over a link that is live for its team, stores it for comparison in mode `shadow`, and does no more than reading it in mode
 * `test`. A result without a certain team goes to the operator while the link is live for one team, because it may be of this team. Writes
 * and emits as `receiveFromLink` and `storeShadowResult`.
 * Errors: those of `receiveFromLink`; 400 the link is off.
 */
export async function receiveInMode(
  context: ReceiveContext,
  link: AccountLink,
  message_id: string,
  { delivery, pdfs }: { delivery: LinkDelivery; pdfs: (Buffer | null)[] },
): Promise<MessageOutcome> {
  if (link.mode === 'off') throw badRequest('The link is off')
  if (link.mode === 'test') return outcomeOf('test')
  if (link.mode === 'live') return outcomeOfReceipt(await receiveFromLink(context, delivery, pdfs))
  const team_id = await findTeamOfResult(context, delivery)
  if (link.mode === 'live_for_team' && (team_id === undefined || team_id === link.live_team_id))
    return outcomeOfReceipt(await receiveFromLink(context, delivery, pdfs))
  const place = await storeShadowResult(context, team_id, message_id, delivery)
  const { mismatch, order_id } = place
  const reason = mismatch === 'no_team' ? 'unknown_team' : null
  return { ...outcomeOf('shadow'), reason, error: mismatch, team_id: place.team_id, order_id }
}

/** Of a message that reached no order. */
export const outcomeOf = (state: MessageOutcome['state']): MessageOutcome => ({
  state,
  reason: null,
  error: null,
  raw_result_ids: [],
  order_id: null,
})

const outcomeOfReceipt = ({ status, raw_result_id, order_id }: Receipt): MessageOutcome => ({
  ...outcomeOf(status === 'matched' || status === 'resolved' ? 'applied' : 'review'),
  raw_result_ids: [raw_result_id],
  order_id,
})

/** Errors: 400 a test message over a link that is not tested, or any other one over a link that is (`acceptsProcessingId`). */
export function assertProcessingId(cell: CellName, { mode, profile }: AccountLink, bytes: Uint8Array): void {
  const id = processingIdOf(bytes)
  if (!acceptsProcessingId(id, cell, mode, profile))
    throw badRequest(`MSH-11 is ${id === 'P' ? 'P' : 'not P'}, and the link is in mode ${mode}`)
}

function processingIdOf(bytes: Uint8Array): string {
  try {
    return readHl7Header(bytes).processingId
  } catch {
    // It is not HL7; readers of messages report what is wrong.
    return ''
  }
}
