// Which answers a stored message gets. In original mode one; in enhanced mode, which the sender asks for with MSH-15 or MSH-16, one for its
// commit and one of the application. Source: HL7 version 2.5.1, 2.9.2 and 2.9.3. Pure.
import { acknowledge, type AcknowledgmentCode } from '../hl7/acknowledgment.ts'
import type { MessageHeader } from '../hl7/message-header.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'

/** What became of a message: it is stored in every case. */
export type Reception = 'accepted' | 'unreadable' | 'unsupported' | 'unknown_account'

interface AnswerOptions {
  header: MessageHeader
  reception: Reception
  options: LinkProfile['acknowledgment']
  newControlId: () => string
  /** As HL7 writes times. */
  sentAt: string
}

/** Why a message is not accepted, without patient data. */
export const RECEPTION_TEXTS: Record<Exclude<Reception, 'accepted'>, string> = {
  unreadable: 'The message cannot be read',
  unsupported: 'The type of the message is not supported',
  unknown_account: 'Sender or account is not known here',
}

/** The answers, in their order; none if the sender wants none. */
export function answersTo({ header, reception, options, newControlId, sentAt }: AnswerOptions): Buffer[] {
  const isAccepted = reception === 'accepted'
  const answer = (code: AcknowledgmentCode) =>
    acknowledge(header, { code, controlId: newControlId(), sentAt, ...(!isAccepted && { text: RECEPTION_TEXTS[reception] }) })
  const code = isAccepted ? 'AA' : options[reception]
  const { acceptAcknowledgment: accept, applicationAcknowledgment: application } = header
  if (accept === '' && application === '') return [answer(code)]
  if (accept === 'NE' && application === 'NE' && !options.honors_never) return [answer(code)]
  // A sender whose message was refused at commit expects no answer of the application.
  const commit = `C${code.slice(1)}` as AcknowledgmentCode
  return [
    ...(isWanted(accept, isAccepted) ? [answer(commit)] : []),
    ...(isWanted(application, isAccepted) && (isAccepted || !isWanted(accept, isAccepted)) ? [answer(code)] : []),
  ]
}

/** Table 0155: always, never, on error, on success. */
function isWanted(condition: string, isAccepted: boolean): boolean {
  if (condition === 'ER') return !isAccepted
  return condition === 'SU' ? isAccepted : condition === 'AL'
}
