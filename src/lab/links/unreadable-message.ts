/** A message that has no meaning for its link. The text contains nothing of the message but names and positions of its parts. */
export class UnreadableMessage extends Error {
  override name = 'UnreadableMessage'
}

/** A message whose bytes are not of its character set, or whose character set is not supported. */
export class UndecodableMessage extends UnreadableMessage {
  override name = 'UndecodableMessage'
}

/** A message of a type that links do not read. */
export class UnsupportedMessage extends UnreadableMessage {
  override name = 'UnsupportedMessage'
}
