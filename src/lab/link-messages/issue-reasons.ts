// What can be wrong with a message or a link, and what a person does about it. Pure.

interface IssueText {
  /** A sentence. */
  text: string
  /** What to do, in sentences. */
  remedy: string
}

const REPLAY = 'Then replay the message.'

/** By reason. */
export const issueTexts = {
  unknown_link: {
    text: 'Sender or account of the message belong to no link.',
    remedy: `Compare sender and account with \`identity\` in the profile, and correct one of them. ${REPLAY}`,
  },
  undecodable: {
    text: 'The bytes of the message are not of its character set.',
    remedy: `Ask the laboratory which character set it sends, and set \`text.charset\`. ${REPLAY}`,
  },
  unreadable: {
    text: 'The message cannot be read.',
    remedy:
      'Compare the message with the error. Ask the laboratory to send it correctly, or replay it after a change of the profile.',
  },
  unsupported_type: {
    text: 'Links do not process messages of this type.',
    remedy: 'Ask the laboratory not to send them. Mark the message as done.',
  },
  rejected: {
    text: 'The result cannot be applied to an order.',
    remedy: `Compare the message with the error. Correct the profile or the order. ${REPLAY}`,
  },
  unknown_team: {
    text: 'The team of a result is not certain, so the result is not compared with what staff enter.',
    remedy: `Compare account and numbers of the message with \`lab-account list\` and \`order_number\`, and correct what differs. ${REPLAY}`,
  },
  unexpected: {
    text: 'Processing ended unexpectedly, five times.',
    remedy: 'Look for the id of the message in the log of the server. Replay the message after the cause is removed.',
  },
  control_id_conflict: {
    text: 'Another message of the sender has the same control id. Both were processed.',
    remedy: 'Tell the laboratory if it did not restart its numbers.',
  },
  count_mismatch: {
    text: 'The batch has another number of messages than it says.',
    remedy: 'Ask the laboratory whether the file is whole. Its messages were processed.',
  },
  unknown_code: {
    text: 'The catalog does not know a code of a result. The result is shown as the laboratory wrote it.',
    remedy: 'Map the code in `codes` of the profile, or add it to the catalog.',
  },
  decimal_mark: {
    text: 'A number is written with another decimal mark than `text.decimal_mark`. It is shown as text.',
    remedy:
      'Ask the laboratory which mark it uses. If the profile is wrong, set mode `off`, correct it, replay all messages, and tell the teams.',
  },
  document_refused: {
    text: 'A document of the message was not stored with its result.',
    remedy: 'Download the message to read the document. Ask the laboratory for PDFs of at most 10 MB.',
  },
  half_frame: {
    text: 'A connection ended within a message.',
    remedy: 'The laboratory sends the message again. Tell it if this happens often.',
  },
  stray_bytes: {
    text: 'A laboratory sends bytes outside of messages.',
    remedy: 'Ask the laboratory whether it frames messages by MLLP.',
  },
  refused_order: {
    text: 'The laboratory refused a message about an order.',
    remedy:
      'Read its answer, correct the order or the profile, and send the order again with `links send-order ORDER_ID --team TEAM_ID`.',
  },
  unsendable_order: {
    text: 'An order cannot be written as the profile says.',
    remedy: 'Correct the order or the profile, and send the order again with `links send-order ORDER_ID --team TEAM_ID`.',
  },
  expired_order: {
    text: 'The laboratory has not said within 72 hours whether it accepts a message about an order.',
    remedy: 'Ask the laboratory whether it has the order. Resend the message, or mark it as done.',
  },
  link_down: {
    text: 'The link does not work.',
    remedy: 'Run `links check`. Ask the laboratory whether its side works.',
  },
} as const satisfies Record<string, IssueText>

export type IssueReason = keyof typeof issueTexts

export const issueReasons = Object.keys(issueTexts) as IssueReason[]
