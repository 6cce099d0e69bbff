/** Bytes that are no message of HL7, or one without a meaning for the link. The text contains nothing of the message but names and positions. */
export class UnreadableMessage extends Error {
  override name = 'UnreadableMessage'
}
