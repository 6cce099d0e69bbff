// What the simulated laboratory answers to an order message at once. Pure.
import { acknowledge, type AcknowledgmentCode } from '../../lab/hl7/acknowledgment.ts'
import { encodeText } from '../../lab/hl7/charsets.ts'
import type { MessageHeader } from '../../lab/hl7/message-header.ts'
import { writeSegments, type Hl7Fields } from '../../lab/hl7/writer.ts'
import { headerSegment, type MessageContext } from './message-parts.ts'
import type { OrderMessage } from './order-message.ts'

interface Answer {
  code: AcknowledgmentCode
  /** ORC-1: `OK`, `UA`, `CR`, `UC`, `XR`. */
  control: string
  /** Why the order is refused. */
  text?: string
  /** The laboratory's number of each test; absent: it has none. */
  fillers?: readonly string[]
}

/**
 * The bytes of the answers to an order message. In enhanced mode the first is the acknowledgment of the commit. The last is ORL^O22 or ORR^O02
 * with the laboratory's numbers, unless `isPlain`: then it is an ACK.
 */
export function writeAnswers(message: OrderMessage, answer: Answer, context: MessageContext, isPlain: boolean): Buffer[] {
  const answers = acknowledgeMessage(message.header, answer, context)
  const hasNumbers = !isPlain && message.tests.length > 0 && !isCommitAlone(message.header, answer)
  return hasNumbers ? [...answers.slice(0, -1), writeOrderAnswer(message, answer, context)] : answers
}

/** The bytes of the acknowledgments of a message. In enhanced mode the first is that of the commit. */
export function acknowledgeMessage(
  header: MessageHeader,
  answer: Pick<Answer, 'code' | 'text'>,
  context: MessageContext,
): Buffer[] {
  const acknowledgment = { sentAt: context.time, ...(answer.text !== undefined && { text: answer.text }) }
  const isEnhanced = wantsAnswer(header.acceptAcknowledgment, answer.code)
  const commit = isEnhanced ? [acknowledge(header, { ...acknowledgment, code: 'CA', controlId: `${context.controlId}C` })] : []
  if (isCommitAlone(header, answer)) return commit
  return [...commit, acknowledge(header, { ...acknowledgment, code: answer.code, controlId: context.controlId })]
}

function isCommitAlone(
  { acceptAcknowledgment, applicationAcknowledgment }: MessageHeader,
  { code }: Pick<Answer, 'code'>,
): boolean {
  const isOriginal = acceptAcknowledgment === '' && applicationAcknowledgment === ''
  return !isOriginal && !wantsAnswer(applicationAcknowledgment, code)
}

/** Table 0155: always, on errors, on success, never. */
const wantsAnswer = (condition: string, code: AcknowledgmentCode): boolean =>
  condition === 'AL' || (condition === 'SU' && code === 'AA') || (condition === 'ER' && code !== 'AA')

function writeOrderAnswer(message: OrderMessage, { code, control, text, fillers }: Answer, context: MessageContext): Buffer {
  const type = message.header.messageCode === 'ORM' ? ['ORR', 'O02'] : ['ORL', 'O22', 'ORL_O22']
  const orders = message.tests.flatMap(({ placer, components }, i): Hl7Fields[] => [
    ['ORC', control, placer, fillers?.[i]],
    ['OBR', String(i + 1), placer, fillers?.[i], components],
  ])
  const error: Hl7Fields[] =
    code === 'AA'
      ? []
      : [
          [
            'ERR',
            undefined,
            undefined,
            ['207', 'Application internal error', 'HL70357'],
            'E',
            undefined,
            undefined,
            undefined,
            text,
          ],
        ]
  const segments: Hl7Fields[] = [
    headerSegment(message.header, type, context),
    ['MSA', code, message.header.controlId, code === 'AA' ? undefined : text],
    ...error,
    message.patient,
    ...orders,
  ]
  return encodeText(writeSegments(segments), 'UNICODE UTF-8')
}
