/** A message that has no meaning for its link. The text contains nothing of the message but names and positions of its parts. */
export class UnreadableMessage extends Error {
  override name = 'UnreadableMessage'
}

/** A message of a type that links do not read. */
export class UnsupportedMessage extends UnreadableMessage {
  override name = 'UnsupportedMessage'
}
