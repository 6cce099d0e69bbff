// Responses that are more than a value of the operation's schema.

/** A response that is JSON text already. Tests parse it and check it against the operation's schema like any other. */
export class PreserializedJson<R> {
  /** The text, in parts: a long text that was made of parts is sent without joining them. */
  readonly parts: readonly string[]
  /**
   * Whether the text is searched for users, for the access log. False if it names none, or if `Tx.concerns` has named them all; those of the
   * path and the query are named in any case.
   */
  readonly searchForUsers: boolean
  declare readonly shape: R
  constructor(text: string | readonly string[], { searchForUsers = true }: { searchForUsers?: boolean } = {}) {
    this.parts = typeof text === 'string' ? [text] : text
    this.searchForUsers = searchForUsers
  }

  get text(): string {
    return this.parts.length === 1 ? this.parts[0]! : this.parts.join('')
  }
}

/** A response that is a file, also of operations with `formats`. */
export class FileReply {
  readonly type: string
  readonly name: string
  readonly bytes: Uint8Array
  constructor(type: string, name: string, bytes: Uint8Array) {
    this.type = type
    this.name = name
    this.bytes = bytes
  }
}

/** A response with a status of its own, for operations with several successful ones. The schema of the operation describes its body. */
export class StatusReply<R> {
  readonly status: number
  readonly body: R
  constructor(status: number, body: R) {
    this.status = status
    this.body = body
  }
}
